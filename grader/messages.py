"""Every sentence that a person may read, under a stable slug.

A sentence names the thing, its value, what was expected, and last what to do next. Markers in
braces are filled by `message`.
"""

from typing import NamedTuple

TEXTS: dict[str, str] = {
    # Requests that make no sense (exit code 2)
    "unknown-assignment": "no assignment {assignment!r} in the course {course}{near}; known:"
    " {known}",
    "no-course": "no course at {path}: a course is a folder with a course.toml",
    "course-unreadable": "{path} can't be read as TOML: {why}",
    "course-malformed": "{path}: {where}: {why}{near}",
    "course-inconsistent": "{path}: {why}",
    "mutant-misfit": "mutant {mutant}: the text to replace, beginning {text!r}, occurs {found}"
    " times in the reference; it must occur exactly once: quote more lines around it",
    "mutant-overlap": "mutant {mutant}: the edit of {text!r} overlaps another one: make them one"
    " edit",
    "mutant-unchanged": "mutant {mutant}: its edits leave the reference's code as it is",
    "mutant-unparsable": "mutant {mutant}: line {line} of the planted text is no Python: {why}",
    "unknown-mutant": "no mutant {mutant!r} in {assignment}; known: {known}",
    "no-mutants": "{assignment} has no mutants in this course, so tests of it can't be graded",
    "no-course-tests": "{assignment} has no {suite} tests in this course",
    "no-generator": "{wanted} is needed, {installed} is installed: pip install"
    " 'grader[instructor]'",
    "no-goldens": "{assignment} has no goldens in this course",
    "no-repository": "no folder {path}, and no archive: name the student's repository with --repo",
    "no-test-folder": "no folder {path}: {assignment}'s tests belong there; `{program} start"
    " {assignment}` makes it{elsewhere}",
    "no-module": "no file {path}: `{program} start {assignment}` makes a stub to fill in",
    "stub-untouched": "{path} is the untouched stub: build {module} first",
    "no-contract": "{assignment} has no contract at {path}, so there is nothing to start from",
    "too-large": "{path} holds over {most}: remove what isn't needed",
    "same-name": "{path} holds {one} and {other}, which are the same on some computers: rename one",
    "archive-unreadable": "{path} can't be unpacked: {why}; make it anew, as .zip or .tar.gz",
    "archive-twice": "{path} holds {name} twice: make it anew",
    "archive-start": "{path} is an archive: `{program} start` writes into a folder, so unpack it",
    "leads-out": "{path} leads out of the repository by a link: put the files themselves there",
    "unreadable": "can't read {path}: {why}",
    "not-utf8": "{path} can't be read: {why}; save it as UTF-8",
    "shrink-all": "--shrink takes long on every fault: name the ones to shrink for with --mutant",
    "key-short": "{path} holds {count} bytes: a course's key has at least {least}, from"
    " `openssl rand -hex 32`",
    "unstartable": "can't write {path}: {why}",
    "json-unwritable": "can't write {path}: {why}",
    "report-kept": "{path} is left as it was: the report of an earlier grading",
    "reveal-refused": "--reveal {reveal} says more than {assignment} allows: at most {allowed}",
    "no-gold-suite": "{assignment} has no gold suite in this course to verify its mutants with",
    "internal": "this is a fault of grader, not yours: {what}; nothing is graded and no score"
    " changes. Set GRADER_TRACEBACK=1 and tell the course staff what it prints",
    "machine": "this machine failed: {what}; nothing is graded and no score changes: mend it and"
    " run it again, and see `grade doctor`",
    "manifest-unreadable": "{path}: {why}",
    "oracle-failed": "{oracle} failed, so the old file stays: {why}",
    "no-torch": "{what} needs torch, which is not installed: pip install 'grader[fixtures]'",
    # A prerequisite is missing (exit code 4)
    "needs": "{assignment} needs {missing}: build it, or rerun with --ref-deps",
    # Nothing can be said (exit code 5)
    "no-engine": "the Docker engine doesn't answer: {why}; start it, or choose --sandbox process"
    " (`grade doctor` says what works here)",
    "no-image": "the engine has no image {image}: run `grade image build`",
    "image-unbuildable": "the image can't be built: {why}",
    "journal-unwritable": "can't keep outcomes in {path}: {why}; nothing is graded, no score"
    " changes and what was kept stays: make room, or name another folder with --run-dir, and run"
    " it again",
    "ledger-unwritable": "can't keep a student's history in {path}: {why}; nothing is graded and no"
    " score changes: make room, and run it again",
    "twins-unwritable": "can't keep rewrites of the course's code in {path}: {why}; nothing is"
    " graded and no score changes: make room, or name another folder with XDG_STATE_HOME, and run"
    " it again",
    "worker-lost": "the worker ended before it answered: {why}",
    "worker-mute": "the worker didn't answer within {seconds:g} s",
    "worker-refused": "the worker can't serve: {why}",
    "platform": "the process sandbox needs Linux; this is {system}: choose --sandbox docker",
    "reference-broken": "the course's reference can't be run: {why}; nothing is graded and no score"
    " changes: tell the course staff",
    "canary-silent": "grader's own canary doesn't meet the code that it was to meet; nothing is"
    " graded and no score changes: run it again with --no-cache, and tell the course staff",
    "no-twins": "no rewrite of {assignment}'s reference behaves as it does: {why}; see"
    " `grade mutants verify {assignment}`",
    "cells-failed": "{count} of {total} runs failed twice on this machine ({why}); nothing is"
    " graded and no score changes: run it again, and see `grade doctor`",
    # Statuses of tests
    "refused-import": "imports {name} (line {line}), which the assignment doesn't allow; allowed:"
    " {allowed}",
    "refused-shadow": "brings a module {name}, which would hide the course's: rename the file",
    "refused-encoding": "can't be read: {why}; save it as UTF-8",
    "broken-syntax": "{at}{why} (read by Python 3.11)",
    "broken-import": "can't be imported on the course's code: {exception}{at}",
    "broken-module": "can't be imported: {why}{at}; where tests are graded there are only your own"
    " files, the course's modules, Python's own, numpy, pytest and hypothesis",
    "broken-same-name": "can't be imported, since a file in another folder has its name: rename"
    " one of them",
    "broken-import-time": "reading the file took over {seconds:g} s: move the work into tests, and"
    " make it smaller",
    "broken-import-crash": "reading the file ended the interpreter",
    "broken-fixture": "can't run: {why}",
    "broken-time": "took over {seconds:g} s on the course's code: make it smaller",
    "broken-crash": "ended the interpreter on the course's code, so nothing after it could run:"
    " a test may only raise",
    "broken-garbled": "the run's report made no sense, which honest tests don't cause",
    "broken-unread": "couldn't be inspected, so it isn't run",
    "broken-unreached": "never ran, or not in every run on the course's code: other tests or files"
    " hang or end the interpreter, or the suite takes over {seconds:g} s in all",
    "invalid": "disagrees with the course's code: {exception}{at}{witness}. Either the test expects"
    " what the contract doesn't promise, or it is wrong: read the contract on this input",
    "invalid-name": "uses a name that is not defined: {exception}{at}{witness}: import it, or mend"
    " its spelling",
    "invalid-file": "opens a file that isn't there: {exception}{at}{witness}: only Python files are"
    " graded, so write the data into one",
    "invalid-forbidden": "opens what no test may: {exception}{at}{witness}: a test reads its own"
    " files and Python's, and writes below the folder that it starts in",
    "invalid-input": "waits for input: {exception}{at}{witness}: nobody answers, so let Hypothesis"
    " draw the values or write them down",
    "invalid-network": "reaches for a network: {exception}{at}{witness}: there is none where tests"
    " are graded",
    "invalid-async": "is an async function, which pytest doesn't run: write a plain function",
    "invalid-teardown": "holds, but fails when it clears up afterwards: {exception}{at}: mend what"
    " comes after the yield of a fixture, or the tearDown",
    "invalid-hypothesis": "can't hold on any code: {exception}{at}: {advice}",
    "invalid-sealed": "does what no test may: {exception}{at}: tests run on their own, without"
    " processes, threads, sockets, pipes, event loops and file locks",
    "invalid-limit": "ran into a limit of the sandbox on the course's code: {exception}{at}",
    "invalid-exit": "ends the run on the course's code: {exception}{at}: a test may only raise what"
    " a failed check raises",
    "flaky": "contradicts itself: on the same code it passes and fails ({where}). Take randomness"
    " from Hypothesis or a fixed seed, and nothing from time or state",
    "flaky-ids": "has other names or parameters from run to run: take them from fixed values, and"
    " nothing from chance, time or state",
    "too-strict": "rejects a rewrite of the course's code that does the same:"
    " {exception}{at}{witness}. It checks a detail that the contract leaves open, such as the"
    " wording of an error or a private name: test what the contract promises",
    "vacuous": "passes even on code that does no work, so it can't catch anything: compare what"
    " the code under test gives with what it should give",
    "vacuous-skipped": "was skipped, or is expected to fail, so it can't catch anything",
    # Hypothesis' own complaints
    "hypothesis-FailedHealthCheck": "Hypothesis' health check says that the inputs are drawn badly:"
    " run it at home",
    "hypothesis-filtered": "{share} of the inputs drawn were thrown away by assume() or filter():"
    " draw only what fits, as in st.integers(min_value=1)",
    "hypothesis-fixture": "a fixture of function scope is made once and not once an example: make"
    " what it gives inside the test",
    "hypothesis-nested": "@given inside a test with @given: draw everything in one, with st.data()"
    " if need be",
    "hypothesis-returned": "it returns a value instead of asserting it",
    "hypothesis-large": "the inputs are too large: draw smaller ones",
    "hypothesis-Unsatisfiable": "no input satisfies the assumptions, all were thrown away: loosen"
    " assume() and filter()",
    "hypothesis-InvalidArgument": "a strategy or @given has arguments that can't be, such as a"
    " least value over the greatest or a name that the test doesn't take: run it at home",
    "hypothesis-FlakyFailure": "it doesn't do the same twice on the same input",
    "hypothesis-DeadlineExceeded": "it is too slow for its own deadline",
    "hypothesis-other": "Hypothesis refuses to run it: run it at home",
    # The course's tests on a student's implementation
    "course-test-time": "took over {seconds:g} s",
    "course-test-crash": "ended the interpreter",
    # Verdicts of mutants
    "error-crash": "the run ended the interpreter{at}: a test may only raise",
    "error-memory": "the run used more memory than it may{at}: draw smaller inputs",
    "error-garbled": "the run's report made no sense, which honest tests don't cause",
    "error-tests": "other tests were collected than on the course's code: don't compute names or"
    " parameters of tests from the code under test",
    "error-no-kill": "tests failed only with {exceptions}, which doesn't show that they saw a"
    " fault",
    "error-unconfirmed": "{test} failed on it, but couldn't be seen to fail again, as it must be"
    " before it counts",
    "error-unsettled": "tests that failed contradict themselves, and the others were never reached",
    "error-hidden": "not every test could be run: others hang or end the interpreter",
    "timeout-all": "the suite ran past its limit of {seconds:g} s in all, and no test failed",
    "timeout": "{test} ran past its time limit, and no other test failed",
    "timeout-required": "; undecided, staff decide",
    "kill-at-import": "caught while the test file was imported: move the check into a test",
    # What a suite is told as a whole
    "no-tests": "no test was found in {path}: files must be named test_*.py and functions test_*"
    "{almost}",
    "near-miss": "{path}, line {line}: {name} looks like a test, but pytest doesn't collect it:"
    " name functions test_* and classes Test* without __init__",
    "near-file": "{path} may hold tests, but pytest collects only files named test_*.py",
    "no-test-like": "no test has {only!r} in its name: see `grade mutate` without -k",
    "partial": "a part, so no grade: {killed} of {chosen} caught by {tests} of these tests",
    "no-valid-test": "no test runs and holds on the course's code, so nothing could be graded",
    "too-many-tests": "{count} tests over the {most} that are graded were left out",
    "left-out": "{path} was left out: {why}",
    "no-course-key": "without --course-key anybody can compute the rewrites that the tests ran on,"
    " and recognise them: where a mark depends on it, give one",
    "untested-module": "no test file imports {module}: are these the tests of {assignment}?",
    # Remarks on tests that do less than they seem to
    "remark-duplicate": "{path}, line {line}: there are two {name}, and only the later one runs:"
    " rename one",
    "remark-returns": "{path}, line {line}: {name} returns a value, which nobody looks at: assert"
    " it instead",
    "remark-tuple": "{path}, line {line}: this asserts a tuple, which always holds: drop the"
    " parentheses",
    "remark-comparison": "{path}, line {line}: nobody looks at the result of {name}: put assert"
    " before it",
    "remark-swallows": "{path}, line {line}: {name} catches the failed assertion too, so this check"
    " can't fail: catch only the exception that you expect, or use pytest.raises",
    "remark-one-example": "{path}, line {line}: with {name} a property sees a single input: let it"
    " see more",
    "remark-no-example": "{path}, line {line}: these {name} leave out Phase.generate, so Hypothesis"
    " draws no input: add it, or drop the setting",
    "remark-deadline": "{path}, line {line}: the {name} has no effect here, since slow isn't wrong:"
    " drop it, or set it to None",
    "remark-profile": "{path}, line {line}: {name} replaces the settings that count here: put what"
    " you need into @settings",
    "remark-yield": "{path}, line {line}: {name} yields, and pytest doesn't run such tests: use"
    " parametrize or subtests",
    "remark-async": "{path}, line {line}: {name} is async, and nothing here awaits it: make it a"
    " plain function",
    "remark-star": "{path}, line {line}: importing * from {name} may bring in tests and names that"
    " you didn't mean: name what you need",
    "remark-unseeded": "{path}, line {line}: {name} gives other values in each run: draw them with"
    " Hypothesis, or use numpy.random.default_rng with a fixed seed",
    "remark-stdin": "{path}, line {line}: {name} waits for somebody to type, and nobody is there:"
    " write the value down",
    "remark-nested": "{path}, line {line}: {name} starts another test run inside a test, whose"
    " results don't count: drop it",
    "remark-idle": "{path}, line {line}: {name} checks nothing, so it fails only where the code"
    " raises: assert what should come out",
    # What staff look at; students aren't told
    "review-similar": "{path}, line {line}: {name} is {percent} % like {model}",
    "review-touch": "{path}, line {line}: touched {what} while it ran: does it look at the form of"
    " the code instead of what it does?",
    "review-reading": "{path}, line {line}: names {what}: does it look at the form of the code"
    " instead of what it does?",
    "review-status": "{test} is {status}",
    "review-history": "{count} submissions of this student contradicted themselves: let a person"
    " decide",
    "review-heading": "For staff, to look at; nothing here changes the grade:",
    "review-none": "For staff: nothing to look at",
    # Sentences of a report
    "passed": "passed",
    "missing-required": "{missing} of {required} required faults not caught",
    "rate": "{killed} of {scored} caught, {needed} needed",
    "void": "not graded: {why}",
    "failing-course-tests": "{failed} of {total} course tests fail on your implementation",
}


class Message(NamedTuple):
    """A sentence and the slug under which it is documented."""

    slug: str
    text: str


def message(slug: str, /, **facts: object) -> Message:
    """Return the sentence ``slug`` with ``facts`` filled in."""
    return Message(slug, TEXTS[slug].format(**facts))


def near(word: str, known: "list[str] | tuple[str, ...]") -> str:
    """Return a suggestion to append to an error about ``word``, or nothing."""
    import difflib

    matches = difflib.get_close_matches(word, known, n=1)
    return f" (did you mean {matches[0]!r}?)" if matches else ""
