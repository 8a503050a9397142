import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import { connect } from '../connect.ts'
import { sqlStateOf } from '../postgres-errors.ts'

/** A pooler that hands the connections out in turn may give one back by chance. */
const ROUNDS = 5
/** How a pooler refuses BEGIN when it pools statements. */
const PROTOCOL_VIOLATION = '08P01'

/** The connections of a pooler share sessions: what one sets, another finds, or does not find again itself. */
export class SharedSession extends Error {
  override readonly name = 'SharedSession'

  constructor(options?: ErrorOptions) {
    super(
      'a pooler in between shares sessions among transactions (as PgBouncer with pool_mode transaction or statement), ' +
        'but prepared statements, settings and locks need a session of their own. Set pool_mode to session for this ' +
        'database and user, or give the address of PostgreSQL itself.',
      options,
    )
  }
}

/**
 * Throws a SharedSession when a session does not keep what is set in it: while a second connection has a transaction
 * open, the first one must find its own setting, and the second must not.
 */
export async function assertOwnSession(url: string, applicationName: string, signal?: AbortSignal): Promise<void> {
  await using closing = new AsyncDisposableStack()
  const open = async (): Promise<Client> => {
    const client = await connect(url, applicationName, signal && { signal })
    closing.defer(() => client.end())
    return client
  }
  const first = await open()
  const second = await open()
  const marker = randomUUID()
  await first.query(`select set_config('economy.session', $1, false)`, [marker])
  for (let round = 0; round < ROUNDS; round += 1) {
    await begin(second)
    // Asked first: from a pool of one connection the first would get no answer now.
    if ((await markerOf(second)) === marker) throw new SharedSession()
    if ((await markerOf(first)) !== marker) throw new SharedSession()
    await second.query('rollback')
  }
}

async function begin(client: Client): Promise<void> {
  try {
    await client.query('begin')
  } catch (error) {
    if (sqlStateOf(error) === PROTOCOL_VIOLATION) throw new SharedSession({ cause: error })
    throw error
  }
}

async function markerOf(client: Client): Promise<string | null> {
  const { rows } = await client.query<{ marker: string | null }>(
    `select current_setting('economy.session', true) as marker`,
  )
  return rows[0]?.marker ?? null
}
