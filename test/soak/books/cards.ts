import { randomInt } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { dataOf } from '../../../schema/common.ts'
import { WalletCard } from '../../../schema/privilege.ts'
import { GRANTED, type Operation } from '../load/operation.ts'
import { operator, type People } from '../load/people.ts'
import { chance, oneOf } from '../load/random.ts'

/** Packages of the demo catalogue: three ranks. */
const PACKAGES = [1, 2, 3]
/** Older cards are forgotten. */
const MAX_KNOWN_CARDS = 200
/** Percentage of requests by a user who does not own the card. */
const STRANGER_PERCENT = 10

interface Card {
  readonly id: number
  readonly owner: number
}

const granted = TypeCompiler.Compile(dataOf(Type.Array(WalletCard)))

/** Generates requests about privilege cards. Known cards may have changed since, by requests of other clients. */
export class Cards {
  readonly #people: People
  #known: readonly Card[] = []

  constructor(people: People) {
    this.#people = people
  }

  grant(): Operation {
    const owner = oneOf(this.#people.users)
    return {
      kind: 'grant',
      actor: operator,
      method: 'POST',
      path: `/admin/v1/users/${owner}/cards`,
      body: `{"privilege_package_id":${oneOf(PACKAGES)},"quantity":${GRANTED},"reason":"soak"}`,
      onDone: (text) => {
        const body: unknown = JSON.parse(text)
        if (!granted.Check(body)) return
        const cards = body.data.map(({ id }) => ({ id, owner }))
        this.#known = [...this.#known, ...cards].slice(-MAX_KNOWN_CARDS)
      },
    }
  }

  activate(): Operation {
    const card = this.#pickCard()
    if (card === undefined) return this.grant()
    return {
      kind: 'activate',
      actor: `user:${this.#pickActor(card)}`,
      method: 'POST',
      path: `/api/v1/privilege-wallet/${card.id}/activate`,
      body: '{}',
      // Half of the activated cards stay known, so that clients try to activate them again.
      onDone: () => {
        if (chance(50)) this.#known = this.#known.filter(({ id }) => id !== card.id)
      },
    }
  }

  transfer(): Operation {
    const card = this.#pickCard()
    if (card === undefined) return this.grant()
    const from = this.#pickActor(card)
    const receiver = oneOf(this.#people.users.filter((user) => user !== from))
    return {
      kind: 'transfer',
      actor: `user:${from}`,
      method: 'POST',
      path: `/api/v1/privilege-wallet/${card.id}/transfer`,
      body: `{"receiver_id":${receiver}}`,
      onDone: () => {
        this.#known = this.#known.map((one) => (one.id === card.id ? { id: one.id, owner: receiver } : one))
      },
    }
  }

  #pickCard(): Card | undefined {
    return this.#known[randomInt(Math.max(1, this.#known.length))]
  }

  #pickActor({ owner }: Card): number {
    return chance(STRANGER_PERCENT) ? oneOf(this.#people.users) : owner
  }
}
