import type { FinishedGame, Game } from '../../../schema/roulette.ts'
import { cancelGame, MAX_PURGED_GAMES, purgeGames } from '../../../src/features/roulette/cancel.ts'
import { finishGame } from '../../../src/features/roulette/finish.ts'
import { openGame } from '../../../src/features/roulette/open.ts'
import { finishedGame, publishedGame, purgedGames } from '../../../src/features/roulette/presenters.ts'
import { joinGame, leaveGame } from '../../../src/features/roulette/seats.ts'
import type { CommandResult } from '../../../src/ledger/executor/command-queue.ts'
import { type TestExecutor, testSpins } from '../../harness/ledger/test-executor.ts'
import { type GameRef, type RouletteStep, targetGame } from '../steps/roulette-steps.ts'

/** The house's fee on the pot, in per cent. */
export const FEE_PERCENT = 7

/** The result of a step: the games that existed before its burst, and the game of its answer. */
export interface RouletteResult {
  readonly refusal: string | null
  readonly known: readonly GameRef[]
  readonly game: (Game & Partial<Pick<FinishedGame, 'losers'>>) | null
  readonly purged: readonly Game[] | null
}

const open = openGame({ spins: testSpins, feePercent: FEE_PERCENT })
const finish = finishGame(testSpins)

export function runRoulette(
  { run }: TestExecutor,
  step: RouletteStep,
  key: string,
  known: readonly GameRef[],
): Promise<CommandResult> {
  if (step.does === 'purge games') {
    const input = { older_than_minutes: step.minutes, dry_run: step.dry }
    return run(purgeGames(purgeable(known)), input, { actor: 'staff:ann', key })
  }
  const who = { actor: `user:${step.user}`, key }
  const { user: caller_id, seed: client_seed } = step
  if (step.does === 'open game') {
    const terms = { game_price: step.price, max_players: step.places, join_admin: step.joins }
    return run(open, { caller_id, room: step.room, ...terms, client_seed }, who)
  }
  const { id, uid, room } = targetGame(known, step)
  const at = { caller_id, room: step.room === 'uid' ? `r${room}` : room, game: step.byUid ? uid : id }
  switch (step.does) {
    case 'join game':
      return run(joinGame, { ...at, client_seed }, who)
    case 'leave game':
      return run(leaveGame, at, who)
    case 'finish game':
      return run(finish, at, who)
    case 'cancel game':
      return run(cancelGame, at, who)
  }
}

/** The candidates of a purge. */
export const purgeable = (known: readonly GameRef[]): readonly number[] =>
  known.slice(0, MAX_PURGED_GAMES).map(({ id }) => id)

type AnyStep = { readonly does: string }

export function rouletteResult({ does }: AnyStep, { reply }: CommandResult, known: readonly GameRef[]): RouletteResult {
  const { answer = null, refusal = null } = JSON.parse(reply.body)
  return {
    refusal,
    known,
    game:
      answer?.players === undefined
        ? null
        : does === 'finish game'
          ? finishedGame(answer, 'http://assets.test')
          : publishedGame(answer, 'http://assets.test'),
    purged: does === 'purge games' && answer !== null ? purgedGames(answer, 'http://assets.test').games : null,
  }
}

/** The game that a step has made, if it has. */
export function createdGames({ does }: AnyStep, { reply }: CommandResult): readonly GameRef[] {
  const { answer } = JSON.parse(reply.body)
  if (does !== 'open game' || answer === undefined) return []
  const { id, uid, room_uid } = publishedGame(answer, 'http://assets.test')
  return [{ id, uid, room: Number(room_uid.slice(1)) }]
}
