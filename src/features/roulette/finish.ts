import { account, balances, transferError, transfers } from '../../ledger/rules/account.ts'
import { keyOf } from '../../ledger/rules/projection.ts'
import { refuse, type Verb } from '../../ledger/rules/verb.ts'
import { entriesHash, type SpinSeeds, spin, spinCommitment } from '../fairness/algorithms.ts'
import { entryOf, type Game, gameAccount, potOf, prizeOf } from './game.ts'
import {
  coinAccount,
  dependentGameKeys,
  findGameInRoom,
  type GameRequest,
  gameRequestKeys,
  type NamedGame,
  namedGameAt,
  requestedPlayerBalanceKeys,
  unplayableRefusal,
} from './game-lookup.ts'

/** Receives the fee of every pot. */
const HOUSE = account('house', 'roulette', 'coins')
const MIN_PLAYERS = 2

const refusals = [
  'not_found',
  'not_in_game',
  'game_finished',
  'game_cancelled',
  'not_enough_players',
  'insufficient_balance',
  'balance_limit',
] as const

/**
 * Spins the wheel, reveals the seed of the spin and pays the prize, in coins, to the winner. Refusals, in this order:
 * `not_found` (room, game), `not_in_game` (neither creator nor player), `game_finished`, `game_cancelled`,
 * `not_enough_players`, `balance_limit` (when any player's balance could not take the prize).
 */
export const finishGame = (spins: SpinSeeds): Verb<GameRequest, NamedGame, typeof refusals> => ({
  refusals,
  reads: (input) => [...gameRequestKeys(input), keyOf(balances, HOUSE)],
  dependentReads: (state, input) => [...dependentGameKeys(state, input), ...requestedPlayerBalanceKeys(state, input)],
  decide: (state, input) => {
    const game = findGameInRoom(state, input)
    if (game === undefined) return refuse('not_found')
    if (game.creator_id !== input.caller_id && entryOf(game, input.caller_id) === undefined) {
      return refuse('not_in_game')
    }
    const ended = unplayableRefusal(state, game)
    if (ended !== undefined) return refuse(ended)
    if (game.entries.length < MIN_PLAYERS) return refuse('not_enough_players')

    const { game_id, room_id, entries } = game
    const pot = potOf(game)
    const prize = prizeOf(pot, game.fee_percent)
    const fee = pot - prize
    const movementsFor = (user: number) =>
      transfers([gameAccount(game_id), coinAccount(user), prize], [gameAccount(game_id), HOUSE, fee])
    // Checked for every player before the spin: a refusal must not reveal who would have won.
    for (const { user_id } of entries) {
      const error = transferError(state, movementsFor(user_id))
      if (error !== undefined) return refuse(error)
    }
    const { seed, draw, winner_id } = spinWheel(spins, game)
    const loser_ids = entries.map(({ user_id }) => user_id).filter((id) => id !== winner_id)
    const proof = { server_seed: seed, entries: [...entries], entries_hash: entriesHash(entries), draw }
    return [
      {
        type: 'roulette-finished',
        data: { game_id, room_id, winner_id, loser_ids, prize, fee, ...proof },
        movements: movementsFor(winner_id),
      },
    ]
  },
  result: (state, input) => namedGameAt(state, input),
})

function spinWheel(spins: SpinSeeds, { incarnation, uid, commitment, entries }: Game) {
  const seed = spins.seed({ incarnation, uid })
  // With a fairness key other than the one the game was created with, nobody could verify the spin.
  if (spinCommitment(uid, seed) !== commitment) throw new Error(`game ${uid} is committed to another seed`)
  const draw = spin(seed, uid, entries).r
  const winner_id = entries[draw]?.user_id
  if (winner_id === undefined) throw new Error(`game ${uid} has no entry ${draw}`)
  return { seed: Buffer.from(seed).toString('hex'), draw, winner_id }
}
