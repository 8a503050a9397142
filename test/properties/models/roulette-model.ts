import assert from 'node:assert/strict'
import { FEE_PERCENT, purgeable, type RouletteResult } from '../harness/roulette-harness.ts'
import { type PlayStep, type RouletteStep, targetGame } from '../steps/roulette-steps.ts'

/** An independent implementation of the rules of roulette. */

interface Table {
  readonly room: number
  readonly creator: number
  readonly price: bigint
  readonly places: number
  readonly since: number
  status: 'open' | 'finished' | 'cancelled'
  seats: { readonly user: number; readonly seed: string }[]
}

/** Applies changes to balances, all or none; returns a refusal, or null. */
type ApplyChanges = (changes: ReadonlyMap<string, bigint>) => string | null

export class RouletteModel {
  readonly tables = new Map<number, Table>()
  readonly #roomExists: (room: number) => boolean
  readonly #isMember: (room: number, user: number) => boolean
  readonly #applyChanges: ApplyChanges

  constructor(
    knowsRoom: (room: number) => boolean,
    isMember: (room: number, user: number) => boolean,
    book: ApplyChanges,
  ) {
    this.#roomExists = knowsRoom
    this.#isMember = isMember
    this.#applyChanges = book
  }

  /** Whether the user is seated in the open game of the room. */
  hasSeat(room: number, user: number): boolean {
    return this.#openIn(room)?.seats.some((seat) => seat.user === user) === true
  }

  /** Refunds the seat of a user in the open game of the room; returns a refusal, or null. */
  refundSeat(room: number, user: number): string | null {
    const table = this.#openIn(room) ?? assert.fail('no open game')
    const refusal = this.#applyChanges(new Map([[coinAccount(user), table.price]]))
    if (refusal === null) table.seats = table.seats.filter((seat) => seat.user !== user)
    return refusal
  }

  #openIn(room: number): Table | undefined {
    return [...this.tables.values()].find((table) => table.room === room && table.status === 'open')
  }

  /** Takes a step; returns its refusal, or null. The winner is taken from the service's result. */
  take(step: RouletteStep, made: RouletteResult, now: number): string | null {
    if (step.does === 'open game') return this.#open(step, made, now)
    if (step.does === 'purge games') return this.#purge(step, made, now)
    const { id, room } = targetGame(made.known, step)
    const table = this.tables.get(id)
    if (table === undefined || table.room !== room || !this.#roomExists(room)) return 'not_found'
    const refusal = this.#play(step, id, table, made)
    if (refusal === null && made.game !== null) checkPublishedGame(id, table, made.game)
    return refusal
  }

  #open(step: Extract<RouletteStep, { does: 'open game' }>, { game }: RouletteResult, now: number): string | null {
    const room = roomOf(step.room)
    if (!this.#roomExists(room)) return 'not_found'
    if (!this.#isMember(room, step.user)) return 'not_room_member'
    if (this.#openIn(room) !== undefined) return 'game_already_open'
    const price = BigInt(step.price)
    const refusal = step.joins ? this.#applyChanges(new Map([[coinAccount(step.user), -price]])) : null
    if (refusal !== null) return refusal
    const seats = step.joins ? [{ user: step.user, seed: step.seed }] : []
    const table: Table = { room, creator: step.user, price, places: step.places, since: now, status: 'open', seats }
    assert.ok(game !== null && !this.tables.has(game.id))
    this.tables.set(game.id, table)
    checkPublishedGame(game.id, table, game)
    return null
  }

  #play(step: PlayStep, id: number, table: Table, made: RouletteResult): string | null {
    const sits = table.seats.some(({ user }) => user === step.user)
    if (step.does === 'join game' && !this.#isMember(table.room, step.user)) return 'not_room_member'
    if (step.does === 'cancel game' && step.user !== table.creator) return 'not_game_creator'
    if (step.does === 'finish game' && step.user !== table.creator && !sits) return 'not_in_game'
    if (table.status !== 'open') return `game_${table.status}`
    switch (step.does) {
      case 'join game': {
        if (sits) return 'already_joined'
        if (table.seats.length === table.places) return 'game_full'
        const refusal = this.#applyChanges(new Map([[coinAccount(step.user), -table.price]]))
        if (refusal === null) table.seats = [...table.seats, { user: step.user, seed: step.seed }]
        return refusal
      }
      case 'leave game': {
        if (!sits) return 'not_joined'
        const refusal = this.#applyChanges(new Map([[coinAccount(step.user), table.price]]))
        if (refusal === null) table.seats = table.seats.filter(({ user }) => user !== step.user)
        return refusal
      }
      case 'finish game':
        return this.#finish(id, table, made)
      case 'cancel game':
        return this.#cancel(table)
    }
  }

  #finish(id: number, table: Table, { game }: RouletteResult): string | null {
    if (table.seats.length < 2) return 'not_enough_players'
    const pot = table.price * BigInt(table.seats.length)
    const prize = (pot * BigInt(100 - FEE_PERCENT)) / 100n
    // Every player's balance has to be able to take it.
    if (table.seats.some(({ user }) => this.#wouldRefuse(coinAccount(user), prize))) return 'balance_limit'
    const { winner, losers, fairness } = game ?? assert.fail('a finished game without a result')
    assert.ok(winner !== null && losers !== undefined)
    assert.equal(table.seats[fairness.draw ?? -1]?.user, winner.id)
    assert.deepEqual(
      losers.map(({ id }) => id),
      table.seats.map(({ user }) => user).filter((user) => user !== winner.id),
    )
    assert.deepEqual(
      fairness.entries?.map(({ user_id, stake, client_seed }) => [user_id, stake, client_seed]),
      table.seats.map(({ user, seed }) => [user, Number(table.price), seed]),
    )
    assert.equal(BigInt(game?.prize ?? -1), prize, `the prize of game ${id}`)
    table.status = 'finished'
    return this.#applyChanges(new Map([[coinAccount(winner.id), prize]]))
  }

  #cancel(table: Table): string | null {
    const refusal = this.#applyChanges(new Map(table.seats.map(({ user }) => [coinAccount(user), table.price])))
    if (refusal === null) table.status = 'cancelled'
    return refusal
  }

  #purge(step: Extract<RouletteStep, { does: 'purge games' }>, { known, purged }: RouletteResult, now: number): null {
    const old = purgeable(known).filter((id) => {
      const table = this.tables.get(id)
      return table?.status === 'open' && now - table.since >= step.minutes * 60_000_000
    })
    // A dry run changes no balances, so the model cannot tell whether two games could be refunded one after the other.
    const cancelled = step.dry ? old : old.filter((id) => this.#cancel(this.tables.get(id) ?? assert.fail()) === null)
    if (step.dry) assert.ok((purged ?? []).every(({ id, status }) => old.includes(id) && status === 'open'))
    else
      assert.deepEqual(
        purged?.map(({ id, status }) => [id, status]),
        cancelled.map((id) => [id, 'cancelled']),
      )
    return null
  }

  /** Whether a balance cannot take that much. */
  #wouldRefuse(account: string, amount: bigint): boolean {
    if (this.#applyChanges(new Map([[account, amount]])) !== null) return true
    assert.equal(this.#applyChanges(new Map([[account, -amount]])), null)
    return false
  }
}

const roomOf = (room: number | string): number => (typeof room === 'number' ? room : Number(room.slice(1)))
const coinAccount = (user: number): string => `user:${user}:coins`

function checkPublishedGame(id: number, table: Table, game: NonNullable<RouletteResult['game']>): void {
  const pot = table.price * BigInt(table.seats.length)
  assert.deepEqual(
    {
      id: game.id,
      status: game.status,
      from: game.from.id,
      players: game.players.map(({ id }) => id),
      price: game.game_price,
      places: game.max_players,
      count: game.players_count,
      pot: game.pot,
      seedShown: game.fairness.server_seed !== undefined,
    },
    {
      id,
      status: table.status,
      from: table.creator,
      players: table.seats.map(({ user }) => user),
      price: Number(table.price),
      places: table.places,
      count: table.seats.length,
      pot: Number(pot),
      seedShown: table.status === 'finished',
    },
  )
  if (table.status === 'open') {
    const full = (table.price * BigInt(table.places) * BigInt(100 - FEE_PERCENT)) / 100n
    assert.equal(BigInt(game.prize), full)
  }
}
