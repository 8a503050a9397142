import { DatabaseError } from 'pg'
import { test } from 'tap'
import { problemOf } from '../../../src/http/errors/problem.ts'

test('a read that the replay of a standby cancelled may be repeated', (t) => {
  const error = Object.assign(new DatabaseError('canceling statement due to conflict with recovery', 6, 'error'), {
    code: '40001',
  })
  t.match(problemOf(error), { status: 500, code: 'unavailable' })
  t.end()
})
