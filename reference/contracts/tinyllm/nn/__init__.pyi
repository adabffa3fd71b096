"""What a network is made of: modules that hold parameters."""
