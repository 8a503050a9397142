import { evolveMembers, joinedEvent } from '../../../src/features/rooms/member.ts'
import { evolveRooms, roomProfiles, roomUids } from '../../../src/features/rooms/room.ts'
import { cancelGame } from '../../../src/features/roulette/cancel.ts'
import { finishGame } from '../../../src/features/roulette/finish.ts'
import { evolveGames } from '../../../src/features/roulette/game.ts'
import type { GameRequest, NamedGame } from '../../../src/features/roulette/game-lookup.ts'
import { type OpenGame, openGame } from '../../../src/features/roulette/open.ts'
import { finishedGame, publishedGame } from '../../../src/features/roulette/presenters.ts'
import { type JoinGame, joinGame, leaveGame } from '../../../src/features/roulette/seats.ts'
import { evolveUsers, userProfiles } from '../../../src/features/users/user.ts'
import { foldedNames } from '../../../src/language/names.ts'
import type { LedgerEvent } from '../../../src/ledger/rules/event.ts'
import { credited, roomDefined, userDefined } from '../../harness/ledger/event-fixtures.ts'
import { FIXED_NOW, type GivenWhen, givenWhen } from '../../harness/ledger/given-when.ts'
import { testSpins } from '../../harness/ledger/test-executor.ts'

/** Users 1 to 5 with 100 coins each. 1 to 4 are members of room 1 (uid R1) of user 9, 1 and 2 of room 2 (uid R2). */
export function rouletteRules(): GivenWhen {
  const ledger = givenWhen(evolveUsers, evolveRooms, evolveMembers, evolveGames)
  const { given, state } = ledger
  given(
    ...[1, 2, 3, 4, 5, 9].map((id) => userDefined(id)),
    roomDefined(1, 9),
    roomDefined(2, 9),
    ...[1, 2, 3, 4, 5].map((id) => credited('user', id, 'coins', 100)),
  )
  const noted = { created_at: FIXED_NOW, updated_at: FIXED_NOW, updated_by: 'staff:ann' }
  for (const user_id of [1, 2, 3, 4, 5, 9]) {
    const words = { user_id, uid: `u${user_id}`, name: `User ${user_id}`, avatar: `a/${user_id}.png` }
    state.set(userProfiles, String(user_id), { ...words, ...foldedNames(words), ...noted })
  }
  for (const room_id of [1, 2]) {
    const uid = `R${room_id}`
    const words = { room_id, uid, name: '', cover_url: '' }
    state.set(roomProfiles, String(room_id), { ...words, ...foldedNames(words), ...noted })
    state.set(roomUids, uid, { uid, room_id })
  }
  const members: readonly (readonly [number, number])[] = [
    ...[1, 2, 3, 4].map((user) => [1, user] as const),
    ...[1, 2].map((user) => [2, user] as const),
  ]
  given(...members.map(([room_id, user_id]) => joinedEvent(room_id, user_id)))
  return ledger
}

export const open = (feePercent = 0) => openGame({ spins: testSpins, feePercent })
const finish = finishGame(testSpins)

/** Input of user 1 for a game in room 1: 30 coins, three players, joined by the creator. */
export const gameInput: OpenGame = {
  caller_id: 1,
  room: 1,
  game_price: 30,
  max_players: 3,
  join_admin: true,
  client_seed: '',
}

/** A result with the game in its published form. */
const published = <R extends { readonly answer: NamedGame | undefined }>({ answer, ...result }: R) => ({
  ...result,
  answer: answer && publishedGame(answer, 'http://assets.test'),
})

const finished = <R extends { readonly answer: NamedGame | undefined }>({ answer, ...result }: R) => ({
  ...result,
  answer: answer && finishedGame(answer, 'http://assets.test'),
})

/** The rooms of `rouletteRules` with a game that user 1 has opened and joined, and the verbs on that game. */
export function openedGame(change: Partial<OpenGame> = {}, feePercent = 0) {
  const ledger = rouletteRules()
  const { answer } = ledger.when(open(feePercent), { ...gameInput, ...change })
  if (answer === undefined) throw new Error('no game was opened')
  const game = publishedGame(answer, 'http://assets.test')
  const at = (caller_id: number, others: Partial<JoinGame> = {}): GameRequest & JoinGame => ({
    caller_id,
    room: 1,
    game: game.id,
    client_seed: '',
    ...others,
  })
  return {
    ...ledger,
    game,
    at,
    join: (user: number, others?: Partial<JoinGame>) => published(ledger.when(joinGame, at(user, others))),
    leave: (user: number, others?: Partial<JoinGame>) => published(ledger.when(leaveGame, at(user, others))),
    finish: (user: number, others?: Partial<JoinGame>) => finished(ledger.when(finish, at(user, others))),
    cancel: (user: number, others?: Partial<JoinGame>) => ledger.when(cancelGame, at(user, others)),
  }
}

export const movementLines = (event: LedgerEvent | undefined) =>
  event?.movements.map(({ debit, credit, amount }) => `${debit} > ${credit} ${amount}`)
