import { MEMBERS, type MemberStep } from '../steps/member-steps.ts'

/** The seats of games, as far as members are concerned. */
interface Seats {
  readonly has: (room: number, user: number) => boolean
  /** Refunds the seat and gives it up; returns a refusal, or null. */
  readonly refund: (room: number, user: number) => string | null
}

/** An independent implementation of the rules of membership. */
export class MembersModel {
  readonly #members = new Map<number, Set<number>>()
  readonly #ownerOf: (room: number) => number | undefined
  readonly #seats: Seats

  constructor(ownerOf: (room: number) => number | undefined, seats: Seats) {
    this.#ownerOf = ownerOf
    this.#seats = seats
  }

  has(room: number, user: number): boolean {
    return this.#members.get(room)?.has(user) === true
  }

  /** Makes the first members of a room that is defined. */
  found(room: number): void {
    this.#members.set(room, new Set(MEMBERS.find(([id]) => id === room)?.[1]))
  }

  add(room: number, user: number): void {
    this.#members.set(room, (this.#members.get(room) ?? new Set()).add(user))
  }

  take({ does, room, user }: MemberStep): string | null {
    const owner = this.#ownerOf(room)
    if (owner === undefined) return 'not_found'
    if (does === 'join room') {
      this.add(room, user)
      return null
    }
    if (owner === user) return 'room_owner'
    if (!this.has(room, user)) return does === 'leave room' ? 'not_room_member' : 'not_found'
    if (this.#seats.has(room, user)) {
      if (does === 'leave room') return 'in_open_game'
      const refusal = this.#seats.refund(room, user)
      if (refusal !== null) return refusal
    }
    this.#members.get(room)?.delete(user)
    return null
  }

  /** The members of rooms that are there. */
  rows(): (readonly [what: string, value: string])[] {
    return [...this.#members].map(([room, users]) => [`members of ${room}`, [...users].sort((a, b) => a - b).join()])
  }
}
