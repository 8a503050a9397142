import { test } from 'tap'
import { failedTests } from '../run/failed-tests.ts'
import { failureDetails } from '../run/failure-details.ts'

const cases: readonly (readonly [what: string, tap: string, failed: readonly string[]])[] = [
  [
    'all is well',
    `1..1
# Subtest: test/a.test.ts
    # Subtest: one
        ok 1 - fine
        1..1
    ok 1 - one # time=1ms

    not ok 2 - later # TODO
    1..2
ok 1 - test/a.test.ts # time=2ms
# { total: 2, pass: 1, todo: 1 }`,
    [],
  ],
  [
    'each failed test once, by its innermost subtest, without lines of a diff',
    `# Subtest: test/a.test.ts
    # Subtest: outer \\# one
        not ok 1 - first
          ---
          diff: |
            not ok 1 - shown
          ...
        not ok 2 - second
        # Subtest: inner
            not ok 1 - deep
            1..1
        not ok 3 - inner # time=1ms
          ---
          at: here
          ...
        1..3
    not ok 1 - outer \\# one # time=1ms
    # Subtest: fine
        ok 1 - fine
        1..1
    ok 2 - fine # time=1ms
    # Subtest: nothing but trouble within
        # Subtest: inner
            not ok 1 - deep
            1..1
        not ok 1 - inner # time=1ms
        1..1
    not ok 3 - nothing but trouble within # time=1ms
    1..3
not ok 1 - test/a.test.ts # time=1ms
  ---
  exitCode: 1
  ...
# Subtest: test/b.test.ts
    ok 1 - fine
    1..1
ok 2 - test/b.test.ts # time=1ms`,
    [
      'test/a.test.ts > outer # one',
      'test/a.test.ts > outer # one > inner',
      'test/a.test.ts > nothing but trouble within > inner',
    ],
  ],
  [
    'files that break or hang',
    `# Subtest: test/broken.test.ts
    1..0 # no tests found
not ok 1 - test/broken.test.ts # time=1ms
  ---
  exitCode: 1
  signal: null
  ...
# Subtest: test/killed.test.ts
    # Subtest: fine
        ok 1 - fine
        1..1
    ok 1 - fine # time=1ms
not ok 2 - test/killed.test.ts # time=1ms
  ---
  exitCode: null
  signal: SIGKILL
  ...
not ok 3 - timeout!
  ---
  expired: test/hanging.test.ts
  ...
# Subtest: test/loose.test.ts
    not ok 1 - an assertion outside of tests
    1..1
not ok 4 - test/loose.test.ts # time=1ms
  ---
  exitCode: 1
  ...`,
    [
      'test/broken.test.ts (exitCode 1)',
      'test/killed.test.ts (signal SIGKILL)',
      'test/hanging.test.ts (timed out)',
      'test/loose.test.ts',
    ],
  ],
]

for (const [what, tap, failed] of cases) {
  test(`what failed: ${what}`, (t) => {
    t.same(failedTests(tap), failed)
    t.end()
  })
}

test('assertions and errors that failed are shown with their diagnostics, and nothing around them', (t) => {
  const tap = `# Subtest: test/a.test.ts
    # Subtest: outer
        not ok 1 - should be equal
          ---
          diff: |
            -1
            +2
          ...
        ok 2 - fine
        not ok 3 - expected to throw
          ---
          stack: |
            at here
          ...
        1..3
    not ok 1 - outer # time=1ms
      ---
      at:
        lineNumber: 1
      ...
    1..1
not ok 1 - test/a.test.ts # time=2ms`
  t.same(failureDetails(tap), [
    'not ok 1 - should be equal\n  ---\n  diff: |\n    -1\n    +2',
    'not ok 3 - expected to throw\n  ---\n  stack: |\n    at here',
  ])
  t.equal(failureDetails(`${tap}\n`.repeat(15)).length, 20)
  t.end()
})
