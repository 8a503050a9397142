import { randomUUID } from 'node:crypto'
import { connect } from '../../../src/db/connect.ts'
import { luckyChains } from '../../../src/features/fairness/lg1.ts'
import { spinSeeds } from '../../../src/features/fairness/rr1.ts'
import { addBagItems } from '../../../src/features/gifts/bag/add-bag-items.ts'
import { defineDecoration } from '../../../src/features/gifts/catalogue/define-decoration.ts'
import { sendGift } from '../../../src/features/gifts/send.ts'
import { activateCard } from '../../../src/features/privilege/activate.ts'
import { grantCards } from '../../../src/features/privilege/grant.ts'
import { definePackage } from '../../../src/features/privilege/packages/define-package.ts'
import { finishGame } from '../../../src/features/roulette/finish.ts'
import { openGame } from '../../../src/features/roulette/open.ts'
import { joinGame } from '../../../src/features/roulette/seats/join.ts'
import { credit } from '../../../src/features/wallet/credit.ts'
import { debit } from '../../../src/features/wallet/debit.ts'
import { command } from '../../../src/ledger/executor/command.ts'
import type { Executor } from '../../../src/ledger/executor/executor.ts'
import type { Verb } from '../../../src/ledger/rules/verb.ts'
import type { DatabaseUrls } from '../run/cluster.ts'
import { keys } from '../run/keys.ts'
import { openExecutor, type Population, population } from '../seed.ts'
import { GIFT } from '../workload.ts'

// Books like those of a busy service: random commands of users and operators, decided by the rules.

const CLOVER = { decoration_id: 2, name: 'Clover', kind: 'lucky', price: 10, image_path: 'gifts/clover.png' } as const
const odds = [
  { multiplier: 0, weight: 899 },
  { multiplier: 2, weight: 70 },
  { multiplier: 10, weight: 30 },
  { multiplier: 360, weight: 1 },
]
/** Users who send lucky gifts: few, but often. */
const GAMBLERS = 2_000
/** Members of each room, who play there: the users from the room's number on. */
const MEMBERS = 5

const oneOf = (count: number): number => 1 + Math.floor(Math.random() * count)

/** Runs commands on a seeded database until its ledger has that many events. */
export async function growBooks(
  { ownerUrl, serviceUrl }: DatabaseUrls,
  events: number,
  { users, rooms } = population,
): Promise<void> {
  await using closing = new AsyncDisposableStack()
  const owner = await connect(ownerUrl, 'bench')
  closing.defer(() => owner.end())
  await owner.query(
    `insert into room_members (room_id, user_id)
     select r, r + m from generate_series(1, ${rooms}) r, generate_series(0, ${MEMBERS - 1}) m`,
  )
  const executor = openExecutor(serviceUrl, { maxBatchCommands: rooms / 2, maxBatchRows: 65_536 })
  closing.defer(() => executor.close())
  const runCommand = runAs(executor)
  await runCommand('staff:ann', defineDecoration, { ...CLOVER, odds })
  await runCommand('staff:ann', definePackage, { privilege_package_id: 1, name: 'Silver', rank: 1, valid_days: 30 })

  let position = await headOf(owner)
  const polling = setInterval(() => void headOf(owner).then((head) => (position = head)), 200)
  closing.defer(() => clearInterval(polling))
  // Each room has one player, so that no two open a game in it. The rooms fill two batches: one is collected while the
  // other is written.
  const player = async (room: number): Promise<void> => {
    while (position < events) await randomCommand(runCommand, room, { users, rooms })
  }
  await Promise.all(Array.from({ length: rooms }, (_, i) => player(i + 1)))
}

async function headOf(owner: Awaited<ReturnType<typeof connect>>): Promise<number> {
  const { rows } = await owner.query<{ position: string }>('select position from ledger_head')
  return Number(rows[0]?.position)
}

type RunAs = <Input, Answer>(actor: string, verb: Verb<Input, Answer>, input: Input) => Promise<Answer>

/** Runs a verb with a new idempotency key, as clients do. Throws when it is refused. */
const runAs =
  (executor: Executor): RunAs =>
  async <Input, Answer>(actor: string, verb: Verb<Input, Answer>, input: Input): Promise<Answer> => {
    const cause = { actor, requestId: randomUUID(), idempotency: { key: randomUUID(), requestHash: '-' } }
    let answered: { readonly answer: Answer } | undefined
    const { reply } = await executor.run(
      command(verb, input, cause, {
        presentResult: (answer) => {
          answered = { answer }
          return { status: 200, body: JSON.stringify({ data: answer }) }
        },
        presentRefusal: (refusal) => ({ status: 422, body: JSON.stringify(refusal) }),
      }),
    )
    if (answered === undefined) throw new Error(`${actor} was refused: ${reply.body}`)
    return answered.answer
  }

const send = sendGift({ chains: luckyChains(keys.FAIRNESS_KEY), ownerPercent: 5 })
const spins = spinSeeds(keys.FAIRNESS_KEY)

/** Of 100 commands: 62 gifts, 25 lucky gifts, 4 credits, 3 debits, 2 cards, and some 4 bag items and games of three. */
async function randomCommand(runCommand: RunAs, room: number, { users, rooms }: Population): Promise<void> {
  const die = oneOf(100)
  const user = oneOf(die > 62 && die <= 87 ? Math.min(GAMBLERS, users) : users)
  if (die <= 87) {
    const decoration_id = die <= 62 ? GIFT.id : CLOVER.decoration_id
    const receiver_ids = Array.from({ length: die % 10 === 0 ? 3 : 1 }, (_, i) => 1 + ((user + i) % users))
    const terms = { caller_id: user, sender_id: user, room: oneOf(rooms), from_bag: false, encrypted: false }
    await runCommand(`user:${user}`, send, { ...terms, decoration_id, receiver_ids, quantity: oneOf(9) })
  } else if (die <= 91) {
    await runCommand('staff:ann', credit, { user_id: user, currency: 'coins', amount: 1000, reason: 'a top-up' })
  } else if (die <= 94) {
    await runCommand('staff:ann', debit, {
      holder: 'user',
      id: user,
      currency: 'diamonds',
      amount: 7,
      reason: 'a refund',
    })
  } else if (die <= 96) {
    const grant = { user_id: user, privilege_package_id: 1, quantity: 1, reason: 'a prize' }
    const [card] = await runCommand('staff:ann', grantCards, grant)
    if (card !== undefined) await runCommand(`user:${user}`, activateCard, { caller_id: user, card_id: card.card_id })
  } else if (die <= 98 || Math.random() < 0.8) {
    const item = { user_id: user, decoration_id: GIFT.id, quantity: 1, reason: 'a prize' }
    await runCommand('staff:ann', addBagItems, item)
  } else {
    await playGame(runCommand, room)
  }
}

async function playGame(runCommand: RunAs, room: number): Promise<void> {
  const [opener, ...others] = [room, room + 1, room + 2]
  for (const user_id of [opener, ...others]) {
    await runCommand('staff:ann', credit, { user_id, currency: 'coins', amount: 100, reason: 'a prize' })
  }
  const terms = { game_price: 100, max_players: 3, join_admin: true, client_seed: 'mine' }
  const opened = await runCommand(`user:${opener}`, openGame({ spins, feePercent: 5 }), {
    caller_id: opener,
    room,
    ...terms,
  })
  const game = opened.game.game_id
  for (const caller_id of others) {
    await runCommand(`user:${caller_id}`, joinGame, { caller_id, room, game, client_seed: '' })
  }
  await runCommand(`user:${opener}`, finishGame(spins), { caller_id: opener, room, game })
}
