import type { RouletteEntry } from '../../../schema/events.ts'
import type { VerifyGame, VerifySpin } from '../../../schema/fairness.ts'
import { entriesHash, entryLines, type SpinEntry, spin, spinCommitment, spinLabel } from '../fairness/algorithms.ts'
import { notOnLedgerStep, type Step, unrecordedStep, type Verdict, verdictOf } from '../fairness/verdict.ts'
import { gameIdOf, potOf } from './game.ts'

/** A spin as recorded on the ledger. */
interface RecordedSpin {
  readonly incarnation: string
  readonly server_seed: string
  readonly entries: readonly RouletteEntry[]
  readonly entries_hash: string
  readonly draw: number
  readonly winner_id: number
  /** Coins paid to the winner. */
  readonly prize: number
  /** Coins paid by each player. */
  readonly game_price: number
}

/** What a spin is verified against; empty for a game of another ledger. */
export interface KnownSpin {
  /** The game's commitment on this ledger. */
  readonly commitment: string | undefined
  /** Only for a finished game. */
  readonly recorded?: RecordedSpin | undefined
}

/** The fields of a finished game other than its spin, as claimed in the request. */
export type GameClaims = Omit<VerifyGame, 'fairness'>

/**
 * Verifies a published spin, and the other claims about its game, step by step, from public values alone. The result
 * reveals only what belongs to the seed that was sent.
 */
export function verifySpin(sent: VerifySpin, known: KnownSpin, claims: GameClaims = {}): Verdict {
  const hash = spinCommitment(sent.game_uid, Buffer.from(sent.server_seed, 'hex'))
  const { commitment: published, recorded }: KnownSpin = hash === known.commitment ? known : { commitment: undefined }
  const entries = sent.entries.map(({ client_seed = '', ...entry }) => ({ ...entry, client_seed }))
  return verdictOf('rr1', [
    checkCommitment(sent, hash, published),
    checkEntries(sent, entries),
    recorded === undefined ? checkUnrecorded(sent, claims) : checkRecord(sent, entries, recorded, claims),
    checkDraw(sent, entries, claims),
  ])
}

/** `published` is the game's commitment on this ledger, if the seed hashes to it. */
function checkCommitment(
  { game_uid, server_seed, commitment: sent }: VerifySpin,
  hash: string,
  published: string | undefined,
): Step {
  const commitment = published ?? sent
  const matchesSent = sent === undefined || sent === commitment
  const commitmentName =
    published === undefined ? 'commitment that was sent' : 'commitment published when the game was created'
  const why =
    commitment === undefined
      ? `no commitment of game ${game_uid} is known`
      : hash !== commitment
        ? `hashing the seed does not give the ${commitmentName}`
        : matchesSent
          ? `hashing the seed gives the ${commitmentName}`
          : 'another commitment was published when the game was created'
  const values = { prefix: `rr1|commit|${game_uid}|`, server_seed, hash, commitment: commitment ?? null }
  return { step: 'commitment', ok: hash === commitment && matchesSent, why, values }
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

/** A spin that is not on this ledger: of another ledger, or with a uid that is not from here. */
function checkUnrecorded({ game_uid }: VerifySpin, { uid }: GameClaims): Step {
  const values = { game_uid, uid: uid ?? game_uid }
  if (gameIdOf(game_uid) !== null) return notOnLedgerStep('spin')
  if (uid === undefined || uid === game_uid) return unrecordedStep('spin')
  return { step: 'ledger', ok: false, why: 'the game and its spin have different uids', values }
}

/** Whether all values that were sent match the recorded spin. */
function checkRecord(
  sent: VerifySpin,
  entries: readonly SpinEntry[],
  recorded: RecordedSpin,
  claims: GameClaims,
): Step {
  const { winner } = claims
  const game = {
    uid: sent.game_uid,
    status: 'finished',
    prize: recorded.prize,
    pot: potOf(recorded),
    game_price: recorded.game_price,
    players_count: recorded.entries.length,
  }
  const ok =
    (sent.incarnation ?? recorded.incarnation) === recorded.incarnation &&
    sent.server_seed === recorded.server_seed &&
    entryLines(entries) === entryLines(recorded.entries) &&
    (sent.entries_hash ?? recorded.entries_hash) === recorded.entries_hash &&
    (sent.draw ?? recorded.draw) === recorded.draw &&
    (winner === undefined || winner?.id === recorded.winner_id) &&
    (claims.uid ?? game.uid) === game.uid &&
    (claims.status ?? game.status) === game.status &&
    (claims.prize ?? game.prize) === game.prize &&
    (claims.pot ?? game.pot) === game.pot &&
    (claims.game_price ?? game.game_price) === game.game_price &&
    (claims.players_count ?? game.players_count) === game.players_count
  const why = `the ledger ${ok ? 'says' : 'does not say'} the same of this spin`
  const { incarnation, server_seed, entries_hash, draw, winner_id } = recorded
  const values = { incarnation, server_seed, entries: recorded.entries, entries_hash, draw, winner_id, ...game }
  return { step: 'ledger', ok, why, values }
}

function checkDraw(
  { game_uid, server_seed, draw }: VerifySpin,
  entries: readonly SpinEntry[],
  { winner: claimedWinner }: GameClaims,
): Step {
  const { r, words } = spin(Buffer.from(server_seed, 'hex'), game_uid, entries)
  const winner = entries[r]
  const wrong =
    (draw ?? r) !== r
      ? `the number drawn is ${r}, not ${draw}`
      : claimedWinner !== undefined && claimedWinner?.id !== winner?.user_id
        ? `the winner is user ${winner?.user_id}, not ${claimedWinner?.id ?? 'nobody'}`
        : undefined
  const why = wrong ?? 'the winner follows from seed and entries'
  const label = spinLabel(game_uid, entriesHash(entries))
  return { step: 'draw', ok: wrong === undefined, why, values: { label, words, players: entries.length, r, winner } }
}
