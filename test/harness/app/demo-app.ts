import { loadDemo } from '../../../src/demo/load.ts'
import { addBagItems } from '../../../src/features/gifts/bag.ts'
import type { Example } from '../../../src/http/documents/examples.ts'
import { genesis } from '../../../src/ledger/rules/incarnation.ts'
import { testOpening } from '../ledger/test-executor.ts'
import type { Scope } from '../scope.ts'
import { createTestApp, readDb, type TestApp } from './test-app.ts'

/**
 * A service in this process with the demo data; with `isLimited`, everything that staff move waits for a colleague, two
 * credits by ben do, room 1 has its share of a gift, and user 1 has three such gifts in the bag.
 */
export async function createDemoApp(t: Scope, isLimited = false): Promise<TestApp> {
  const approvalLimits = isLimited ? {} : null
  const created = await createTestApp(t, { approvalLimits })
  await created.ledger.runOk(genesis, testOpening)
  await loadDemo(created.ledger.executor, readDb(t, created.database))
  if (!isLimited) return created
  for (const amount of [2_500, 40]) {
    const move = { currency: 'diamonds', amount, reason: 'winner of the week' }
    await created.staff('ben')('POST', '/admin/v1/users/1/credits', move)
  }
  const gift = { u_id: 1, decoration_id: 1, user_id: [2], quantity: 100, room_id: 1 }
  await created.user(1)('POST', '/api/v1/instant-send', gift)
  await created.ledger.runOk(addBagItems, { user_id: 1, decoration_id: 1, quantity: 3, reason: 'prize of the week' })
  return created
}

/** The header of a user, a role of staff, or nobody. */
export function authorizationAs(app: TestApp['app'], as: Example['as']): Readonly<Record<string, string>> {
  if (as === null) return {}
  const claims = typeof as === 'number' ? { sub: String(as) } : { sub: 'ann', role: as }
  return { authorization: `Bearer ${app.jwt.sign(claims, { expiresIn: '1h' })}` }
}
