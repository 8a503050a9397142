import type { ClientBase } from 'pg'
import { formatAmount } from '../format.ts'
import type { LostEvent } from './lost-events.ts'

interface OpenRequest {
  readonly withdrawal_id: string
  readonly status: string
  readonly user_id: string
  readonly wallet: string
  readonly amount: string
  /** Of all open requests. */
  readonly total: string
}

/** Open requests that are listed. */
const MAX_OPEN = 100

/** Sections of what has to be done again: by what is left on the ledger, and by lost events that something else has. */
export async function whatToDo(
  client: Pick<ClientBase, 'query'>,
  since: string,
  lost: readonly LostEvent[],
): Promise<readonly string[]> {
  const { rows } = await client.query<OpenRequest>({
    text: `select withdrawal_id, status, user_id, wallet, amount, count(*) over () as total from withdrawals
           where status in ('pending', 'approved') order by withdrawal_id limit ${MAX_OPEN}`,
    types: { getTypeParser: () => (text: string) => text },
  })
  const open = rows.map(
    ({ withdrawal_id, status, user_id, wallet, amount }) =>
      `request ${withdrawal_id} of user ${user_id}, ${formatAmount(wallet, BigInt(amount))} ${wallet}, is ${status}`,
  )
  const more = Number(rows[0]?.total ?? 0) - open.length
  if (more > 0) open.push(`and ${more} more: GET /admin/v1/withdrawals`)
  return [
    ...section(
      `withdrawals that were made or decided after ${since}: make and decide them again`,
      lost.flatMap(withdrawal),
    ),
    ...section('withdrawals that are open: ask whether they were decided and paid since', open),
    ...section(`people who were erased after ${since}: erase them again`, lost.flatMap(erasure)),
    ...section(
      `sessions that were revoked after ${since}: their tokens are valid, revoke them again`,
      lost.flatMap(revocation),
    ),
  ]
}

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [`${title}; none is known here`] : [title, ...new Set(lines.map((line) => `  ${line}`))]

function withdrawal({ type, position, at, actor, data }: LostEvent): string[] {
  if (type === 'withdrawal-requested') {
    const amount = `${formatAmount(data.wallet, BigInt(data.amount))} ${data.wallet}`
    return [`request ${position} of user ${data.user_id} to ${data.target_id}, ${amount}, made at ${at}`]
  }
  if (type !== 'withdrawal-status-changed') return []
  return [`request ${data.withdrawal_id} of user ${data.user_id}: ${data.to} by ${actor} at ${at}`]
}

const erasure = ({ type, data }: LostEvent): string[] =>
  type === 'user-forgotten' ? [`npm run forget -- --user ${data.user_id}`] : []

function revocation({ type, data }: LostEvent): string[] {
  if (type === 'sessions-revoked') return [`POST /admin/v1/users/${data.user_id}/revoke-sessions`]
  return type === 'staff-sessions-revoked'
    ? [`POST /admin/v1/staff/${encodeURIComponent(data.sub)}/revoke-sessions`]
    : []
}
