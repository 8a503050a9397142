import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { acknowledgements, positionIn } from '../../features/closings/finding.ts'
import { proposals } from '../../features/proposals/proposal.ts'
import { plainActor } from '../../http/auth/caller.ts'
import type { ReplayState } from '../../ledger/replay/replay.ts'
import type { Snapshot } from '../../ledger/replay/snapshot.ts'
import { parseData } from '../reports/events/parse-data.ts'
import type { Findings } from './finding.ts'

/** The ids of all findings that were acknowledged, as the table has them: for what makes a scan stop, and nothing else. */
export async function readAcknowledged(snapshot: Snapshot): Promise<ReadonlySet<string>> {
  const rows = await snapshot.query('select finding from finding_acknowledgements')
  return new Set(rows.map(({ finding }) => String(finding)))
}

interface Party {
  readonly position: number
  readonly actor: string
  readonly data: string
}

type Deciders = { readonly maker: string; readonly decided_by: string | null } | undefined

/** Whom an event names, in plain form: its actor, and maker and approver of its proposal. */
function partiesOf({ actor, data }: Party, proposal: Deciders): readonly string[] {
  const { maker, decided_by } = Object(parseData(data))
  const names: readonly unknown[] = [actor, maker, decided_by, proposal?.maker, proposal?.decided_by]
  return names.filter((name) => typeof name === 'string').map(plainActor)
}

/** The id of the proposal that an event is about, if it is about one: the position of the event that made it. */
function proposalIdOf({ position, data }: Party): number {
  const { proposal_id, approval } = Object(parseData(data))
  const id: unknown = proposal_id ?? Object(approval).proposal_id
  return typeof id === 'number' ? id : position
}

/** Whether `actor` is actor, maker or approver of the event that a finding names. False where it names none. */
export async function isOwnFinding(db: Kysely<Tables>, subject: string, actor: string): Promise<boolean> {
  const position = positionIn(subject)
  if (position === null) return false
  const event = await db
    .selectFrom('ledger')
    .select(['position', 'actor', 'data'])
    .where('position', '=', position)
    .executeTakeFirst()
  if (event === undefined) return false
  const proposal = await db
    .selectFrom('proposals')
    .select(['maker', 'decided_by'])
    .where('proposal_id', '=', proposalIdOf(event))
    .executeTakeFirst()
  return partiesOf(event, proposal).includes(plainActor(actor))
}

/** Nobody acknowledges what he did, proposed or approved himself, and the actor is the one whom the event names. */
export async function checkAcknowledgements(snapshot: Snapshot, rows: ReplayState, findings: Findings): Promise<void> {
  const all = [...rows.rows(acknowledgements)].map(([, row]) => row)
  const positions = all.flatMap(({ acknowledgement_id, subject }) => [acknowledgement_id, positionIn(subject) ?? 0])
  const text = 'select position, actor, data from ledger where position = any($1)'
  const events = new Map(
    (await snapshot.query(text, [positions])).map(({ position, actor, data }): [string, Party] => [
      String(position),
      { position: Number(position), actor: String(actor), data: String(data) },
    ]),
  )
  for (const { acknowledgement_id: position, acknowledged_by: by, subject } of all) {
    const actor = events.get(String(position))?.actor
    const add = (message: string): void => findings.add({ check: 'approval', position, message })
    if (actor !== by) add(`it was acknowledged by ${by}, but its actor is ${actor}`)
    const about = positionIn(subject) === null ? undefined : events.get(subject)
    const parties = about === undefined ? [] : partiesOf(about, rows.get(proposals, String(proposalIdOf(about))))
    if (parties.includes(plainActor(by)))
      add(`${by} acknowledged a finding about event ${subject}, and is a party to it`)
  }
}
