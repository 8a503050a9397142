import { connect } from '../../src/db/connect.ts'
import type { TestDatabase } from '../harness/postgres/test-database.ts'
import type { Scope } from '../harness/scope.ts'

/**
 * Makes every verification wait until the function that it answers is called. A caller that starts one with a key needs
 * another table than that of replies.
 */
export async function holdVerifications(
  t: Scope,
  { ownerUrl }: Pick<TestDatabase, 'ownerUrl'>,
  table: 'replies' | 'gift_streaks' = 'replies',
): Promise<() => Promise<void>> {
  const client = await connect(ownerUrl, 'test')
  let isOpen = true
  const release = async (): Promise<void> => {
    if (!isOpen) return
    isOpen = false
    await client.query('rollback')
    await client.end()
  }
  t.teardown(release)
  await client.query(`begin; lock table ${table} in access exclusive mode`)
  return release
}
