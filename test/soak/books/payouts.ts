import { randomInt } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { dataOf, Id } from '../../../schema/common.ts'
import type { Kind, Operation } from '../load/operation.ts'
import { operator, type People } from '../load/people.ts'
import { chance, oneOf } from '../load/random.ts'

/** A country of the demo catalogue. */
const COUNTRY = 1
/** The first users are charging agents, those after them business managers. */
const AGENTS = 2
const MANAGERS = 2
/** Older requests are forgotten. */
const MAX_KNOWN_REQUESTS = 100
/** Percentage of status changes by a random user. */
const STRANGER_PERCENT = 10

interface Request {
  readonly id: number
  readonly by: number
  readonly target: number
}

const createdBody = TypeCompiler.Compile(dataOf(Type.Object({ id: Id })))

/** The users with their agency roles, for `POST /admin/v1/users`. */
export const agencyRoles = ({ users }: People): readonly object[] =>
  users.map((id, i) => ({
    id,
    uid: `soak-${id}`,
    name: `Soak ${id}`,
    ...(i < AGENTS && {
      charging_agent: 1,
      allow_receive_withdraw_requests: 1,
      agency_countries: [{ country_id: COUNTRY }],
    }),
    ...(i >= AGENTS && i < AGENTS + MANAGERS && { business_manager: 1 }),
  }))

/** Generates requests about dollars. Known withdrawals may have changed since, by requests of other clients. */
export class Payouts {
  readonly #people: People
  #known: readonly Request[] = []

  constructor(people: People) {
    this.#people = people
  }

  request(): Operation {
    const { users } = this.#people
    const gold = chance(50)
    const by = oneOf(users.slice(AGENTS + MANAGERS))
    const target = oneOf(gold ? users.slice(0, AGENTS) : users.slice(AGENTS, AGENTS + MANAGERS))
    const recipient = gold
      ? { type: 'gold_agent', target_user_id: target, beneficiary_user_id: oneOf(users) }
      : { type: 'cash', business_manager_id: target, bank_details: bank }
    const amount_in_dollars = `${randomInt(1, 40)}.${randomInt(10)}`
    return {
      kind: 'request',
      actor: `user:${by}`,
      method: 'POST',
      path: '/api/v1/agency/target-withdraw-requests/request',
      body: JSON.stringify({ ...recipient, amount_in_dollars, country_id: COUNTRY, agent_benefit: chance(30) }),
      onDone: (text) => {
        const body: unknown = JSON.parse(text)
        if (createdBody.Check(body))
          this.#known = [...this.#known, { id: body.data.id, by, target }].slice(-MAX_KNOWN_REQUESTS)
      },
    }
  }

  /** By the agent or manager. */
  approve(): Operation {
    return this.#change('approve', 'approved', ({ target }) => `user:${target}`)
  }

  /** By the requester, or by an operator, who may reject an approved request, too. */
  reject(): Operation {
    return this.#change('reject', 'rejected', ({ by }) => (chance(50) ? `user:${by}` : operator))
  }

  /** By an operator. */
  settle(): Operation {
    return this.#change('settle', 'transferred', () => operator)
  }

  instant(): Operation {
    const { users } = this.#people
    const by = oneOf(users)
    return {
      kind: 'instant',
      actor: `user:${by}`,
      method: 'POST',
      path: '/api/v1/agency/target-transaction-requests/request',
      body: JSON.stringify({ dollars: `${randomInt(1, 30)}.25`, user_id: oneOf(users), agent_benefit: chance(30) }),
    }
  }

  #change(kind: Kind, status: string, actorOf: (request: Request) => string): Operation {
    const request = this.#known[randomInt(Math.max(1, this.#known.length))]
    if (request === undefined) return this.request()
    const actor = chance(STRANGER_PERCENT) ? `user:${oneOf(this.#people.users)}` : actorOf(request)
    const path = actor === operator ? '/admin/v1/withdrawals' : '/api/v1/agency/target-withdraw-requests'
    return { kind, actor, method: 'POST', path: `${path}/${request.id}/status`, body: JSON.stringify({ status }) }
  }
}

const bank = { bank_name: 'Soak bank', account_name: 'Soak', account_number: 'SO4K0007' }
