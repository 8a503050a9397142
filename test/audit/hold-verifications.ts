import { connect } from '../../src/db/connect.ts'
import type { TestDatabase } from '../harness/postgres/test-database.ts'

interface Test {
  teardown(work: () => Promise<void>): void
}

/** Makes every verification wait until the function that it answers is called. */
export async function holdVerifications(
  t: Test,
  { ownerUrl }: Pick<TestDatabase, 'ownerUrl'>,
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
  await client.query('begin; lock table replies in access exclusive mode')
  return release
}
