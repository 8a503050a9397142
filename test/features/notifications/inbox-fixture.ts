import { readDb } from '../../harness/app/test-app.ts'
import { agencyApp, cash, dataOf, gold, requests, transfers } from '../agency/agency-fixture.ts'

export const inbox = '/api/v1/notifications'

interface Inbox {
  readonly data: readonly { readonly id: number; readonly body: string; readonly read_at: string | null }[]
  readonly meta: { readonly next_cursor: string | null; readonly unread: number }
}

/** User 4 has six notifications, user 1 three, user 2 one. */
export async function inboxApp(t: Parameters<typeof agencyApp>[0]) {
  const all = await agencyApp(t)
  const { user, operator, database } = all
  await operator('PUT', '/admin/v1/privilege-packages/1', { name: 'Gold', rank: 1, valid_days: 30 })
  const granted = { privilege_package_id: 1, quantity: 1, reason: 'x' }
  const [card] = dataOf(await operator('POST', '/admin/v1/users/1/cards', granted))
  await user(1)('POST', `/api/v1/privilege-wallet/${card.id}/transfer`, { receiver_id: 4 })
  await user(1)('POST', `${transfers}/request`, { dollars: 1, user_id: 4 })
  await user(1)('POST', `${transfers}/request`, { dollars: 1, user_id: 1 })
  const secrets = { user_notice: 'a private notice' }
  const { id: first } = dataOf(await user(1)('POST', `${requests}/request`, { ...gold, ...secrets }))
  await user(4)('POST', `${requests}/${first}/status`, { status: 'approved', note: 'a private note' })
  await operator('POST', `/admin/v1/withdrawals/${first}/status`, { status: 'transferred' })
  const { id: second } = dataOf(await user(1)('POST', `${requests}/request`, gold))
  await user(1)('POST', `${requests}/${second}/status`, { status: 'rejected' })
  const third = dataOf(await user(2)('POST', `${requests}/request`, { ...cash, agent_benefit: 1 }))
  await user(7)('POST', `${requests}/${third.id}/status`, { status: 'rejected' })
  return {
    ...all,
    first: Number(first),
    second: Number(second),
    db: readDb(t, database),
    list: async (id: number, query = '', headers = {}): Promise<Inbox> =>
      Object((await user(id)('GET', `${inbox}${query}`, undefined, headers)).body),
    mark: async (id: number, up_to: number, headers = {}): Promise<unknown> =>
      (await user(id)('POST', `${inbox}/read`, { up_to }, headers)).body,
  }
}
