import { randomInt } from 'node:crypto'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { dataOf } from '../../../schema/common.ts'
import { Game } from '../../../schema/roulette.ts'
import type { Kind, Operation } from '../load/operation.ts'
import { operator, type People } from '../load/people.ts'
import { chance, oneOf } from '../load/random.ts'

/** Rooms for the games; each has at most one open game. */
const rooms = [101, 102, 103].map((id) => ({ id, uid: `soak-room-${id}` }))
/** Percentage of requests by a random user. */
const STRANGER_PERCENT = 20

/** The latest known state of a room's game. */
interface KnownGame {
  readonly room: string
  readonly id: number
  readonly uid: string
  readonly creator: number
  readonly players: readonly number[]
}

const gameBody = TypeCompiler.Compile(dataOf(Game))

/** Requests that create the rooms, owned by existing users. */
export const roomsOf = ({ users }: People): readonly Operation[] =>
  rooms.map(({ id, uid }) => ({
    kind: 'room',
    actor: operator,
    method: 'PUT',
    path: `/admin/v1/rooms/${id}`,
    body: JSON.stringify({ uid, name: 'Soak', owner_id: oneOf(users) }),
  }))

/** Requests by which every user enters every room. */
export const entriesOf = ({ users }: People): readonly Operation[] =>
  rooms.flatMap(({ uid }) => users.map((user) => enter(user, uid)))

const enter = (user: number, room: string): Operation => ({
  kind: 'enter',
  actor: `user:${user}`,
  method: 'GET',
  path: `/v1/rooms/${room}/join`,
  body: null,
})

/** Generates requests about roulette games. Known games may have changed since, by requests of other clients. */
export class Games {
  readonly #people: People
  readonly #known = new Map<string, KnownGame>()

  constructor(people: People) {
    this.#people = people
  }

  enter(): Operation {
    return enter(oneOf(this.#people.users), oneOf(rooms).uid)
  }

  /** `host`: the creator joins the game. */
  create(kind: 'create' | 'host'): Operation {
    const body = {
      game_price: randomInt(1, 30),
      max_players: randomInt(2, 7),
      join_admin: kind === 'host',
    }
    const room = oneOf(rooms).uid
    return this.#operation(kind, oneOf(this.#people.users), room, 'POST', 'create', JSON.stringify(body))
  }

  join(): Operation {
    const seed = `{"client_seed":"s${randomInt(1e9)}"}`
    return this.#onCurrentGame(({ room, id, uid }) => {
      const ref = chance(50) ? id : uid
      return this.#operation('join', oneOf(this.#people.users), room, 'POST', `join/${ref}`, seed)
    })
  }

  leave(): Operation {
    return this.#onCurrentGame((game) => {
      const player = this.#oneOf(game.players)
      return this.#operation('leave', player, game.room, 'POST', `leave/${game.id}`, '{}')
    })
  }

  finish(): Operation {
    return this.#onCurrentGame((game) => {
      const caller = this.#oneOf([game.creator, ...game.players])
      return this.#operation('finish', caller, game.room, 'POST', `finish/${game.uid}`, '{}')
    })
  }

  cancel(): Operation {
    return this.#onCurrentGame((game) =>
      this.#operation('cancel', this.#oneOf([game.creator]), game.room, 'DELETE', game.uid, null),
    )
  }

  #onCurrentGame(operation: (game: KnownGame) => Operation): Operation {
    const game = this.#known.get(oneOf(rooms).uid)
    return game === undefined ? this.create('host') : operation(game)
  }

  #oneOf(users: readonly number[]): number {
    return users.length === 0 || chance(STRANGER_PERCENT) ? oneOf(this.#people.users) : oneOf(users)
  }

  #operation(
    kind: Kind,
    user: number,
    room: string,
    method: Operation['method'],
    path: string,
    body: string | null,
  ): Operation {
    return {
      kind,
      actor: `user:${user}`,
      method,
      path: `/v1/rooms/${room}/games/roulette/${path}`,
      body,
      onDone: (text) => this.#onDone(room, text),
    }
  }

  #onDone(room: string, text: string): void {
    const body: unknown = JSON.parse(text)
    // The answer to a cancellation has no game.
    if (!gameBody.Check(body)) return
    const { id, uid, from, players } = body.data
    if (id < (this.#known.get(room)?.id ?? 0)) return
    this.#known.set(room, { room, id, uid, creator: from.id, players: players.map((one) => one.id) })
  }
}
