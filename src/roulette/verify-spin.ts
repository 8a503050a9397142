import type { RouletteEntry } from '../../schema/events.ts'
import type { VerifySpin } from '../../schema/fairness.ts'
import { entriesHash, entryLines, type SpinEntry, spin, spinCommitment, spinLabel } from '../fairness/rr1.ts'
import { type Step, type Verdict, verdictOf } from '../fairness/verdict.ts'

/** A spin as the ledger holds it. */
export interface RecordedSpin {
  readonly server_seed: string
  readonly entries: readonly RouletteEntry[]
  readonly entries_hash: string
  readonly draw: number
  readonly winner_id: number
  /** Coins that the winner was paid. */
  readonly prize: number
}

/** What is known of a spin beside what is said of it: from the ledger or, for one that is not ours, sent along. */
export interface KnownSpin {
  readonly commitment: string | undefined
  /** Of a game of ours that is finished. */
  readonly recorded?: RecordedSpin | undefined
}

/** Checks a published spin step by step, from public values alone; `winnerId` is who is said to have won it. */
export function verifySpin(
  asked: VerifySpin,
  { commitment, recorded }: KnownSpin,
  winnerId?: number | string,
): Verdict {
  const entries = asked.entries.map(({ client_seed = '', ...entry }) => ({ ...entry, client_seed }))
  return verdictOf('rr1', [
    checkCommitment(asked, commitment),
    checkEntries(asked, entries),
    ...(recorded === undefined ? [] : [checkRecord(asked, entries, recorded)]),
    checkDraw(asked, entries, winnerId),
  ])
}

function checkCommitment(
  { game_uid, server_seed, commitment: said }: VerifySpin,
  commitment: string | undefined,
): Step {
  const hash = spinCommitment(game_uid, Buffer.from(server_seed, 'hex'))
  const told = said === undefined || said === commitment
  const why =
    commitment === undefined
      ? `no commitment of game ${game_uid} is known`
      : hash !== commitment
        ? 'hashing the seed does not give the commitment published when the game was created'
        : told
          ? 'hashing the seed gives the commitment published when the game was created'
          : 'another commitment was published when the game was created'
  const values = { prefix: `rr1|commit|${game_uid}|`, server_seed, hash, commitment: commitment ?? null }
  return { step: 'commitment', ok: hash === commitment && told, why, values }
}

function checkEntries({ entries_hash }: VerifySpin, entries: readonly SpinEntry[]): Step {
  const hash = entriesHash(entries)
  const ok = (entries_hash ?? hash) === hash
  const why =
    entries_hash === undefined
      ? 'the hash of the lines of all who played'
      : `the lines of all who played ${ok ? 'have' : 'do not have'} that hash`
  return { step: 'entries', ok, why, values: { lines: entryLines(entries), hash } }
}

/** Whether all that was said of a spin is what the ledger says of it. */
function checkRecord(asked: VerifySpin, entries: readonly SpinEntry[], recorded: RecordedSpin): Step {
  const ok =
    asked.server_seed === recorded.server_seed &&
    entryLines(entries) === entryLines(recorded.entries) &&
    (asked.entries_hash ?? recorded.entries_hash) === recorded.entries_hash &&
    (asked.draw ?? recorded.draw) === recorded.draw
  const why = `the ledger ${ok ? 'says' : 'does not say'} the same of this spin`
  const { server_seed, entries_hash, draw, winner_id, prize } = recorded
  const values = { server_seed, entries: recorded.entries, entries_hash, draw, winner_id, prize }
  return { step: 'ledger', ok, why, values }
}

function checkDraw(
  { game_uid, server_seed, draw }: VerifySpin,
  entries: readonly SpinEntry[],
  winnerId: number | string | undefined,
): Step {
  const { r, words } = spin(Buffer.from(server_seed, 'hex'), game_uid, entries)
  const winner = entries[r]
  const wrong =
    (draw ?? r) !== r
      ? `the number drawn is ${r}, not ${draw}`
      : winnerId !== undefined && winnerId !== winner?.user_id
        ? `the winner is user ${winner?.user_id}, not ${winnerId}`
        : undefined
  const why = wrong ?? 'the winner follows from seed and entries'
  const label = spinLabel(game_uid, entriesHash(entries))
  return { step: 'draw', ok: wrong === undefined, why, values: { label, words, players: entries.length, r, winner } }
}
