import { Type } from '@sinclair/typebox'
import type { App } from '../../features/services.ts'
import { notFound } from '../../http/errors/http-error.ts'
import { idInPath } from '../../http/validation/request-parts.ts'
import { account } from '../../ledger/rules/account.ts'
import type { ConsoleServices } from '../console-services.ts'
import { movementsTable } from '../events/stored-events.ts'
import {
  amountCell,
  type Cell,
  codeCell,
  type Facts,
  formatCount,
  numberCell,
  statusCell,
  textCell,
  timeCell,
} from '../layout/cells.ts'
import { addressWith, eventCell, eventPath, personCell } from '../layout/links.ts'
import { checkedStep, type ProofStep, sendSections, verdictSection } from '../layout/page.ts'
import { numberPart, part, partTable } from '../lists/list.ts'
import { type DrawDetails, readDrawDetails } from './lucky-sends.ts'

/** /console/draws/{position}: a lucky send, step by step. */
export function drawPage(scope: App, { chooseReportDatabase }: ConsoleServices): void {
  const params = Type.Object({ position: Type.String() })
  scope.get('/draws/:position', { schema: { params } }, async (request, reply) => {
    const position = idInPath(request.params.position)
    const { db } = await chooseReportDatabase()
    const details = await readDrawDetails(db, position)
    if (details === undefined) throw notFound()
    return sendSections(request, reply, {
      title: `Draw ${position}`,
      sections: [
        verdictSection(details.verdict, {
          valid: 'Checked: the numbers and rewards follow from values that were committed before the draw.',
          wrong: 'This draw does not follow from what was committed. The step that does not match is marked below.',
        }),
        { facts: factsOf(details) },
        { title: 'Step by step', proof: drawSteps(details) },
      ],
    })
  })
}

function factsOf({ event, names, giftName }: DrawDetails): Facts {
  const { position, at, data } = event
  const { sender_id, decoration_id, price, quantity, draws, cost, from_bag, room_id, times } = data
  const won = draws.reduce((sum, { reward }) => sum + BigInt(reward), 0n)
  return [
    ['When', timeCell(at)],
    ['Event', eventCell(position)],
    ['Sender', personCell(sender_id, names.get(sender_id))],
    [
      'Gift',
      textCell(
        `${giftName ?? 'Gift'} (${decoration_id})`,
        addressWith('/console/draws', { from: '1', gift: decoration_id }),
      ),
    ],
    ['Room', codeCell(String(room_id))],
    ['Orders', numberCell(draws.length)],
    ['Stake of each order', amountCell('diamonds', BigInt(price) * BigInt(quantity))],
    [from_bag ? 'Paid in (from the bag)' : 'Paid in', amountCell('diamonds', cost)],
    ['Paid out', amountCell('diamonds', won)],
    ['House result', amountCell('diamonds', BigInt(cost) - won)],
    ['Times in a row', numberCell(times)],
  ]
}

/** A lucky send in the order in which its values were committed, each with the event that has it. */
function drawSteps(details: DrawDetails): readonly ProofStep[] {
  const { event, names, committed, commitment, odds, verdict } = details
  const { position, data, movements } = event
  const { incarnation, chain, k, announced, link, client_seed, odds_hash, sender_id, receiver_ids, draws } = data
  const checkOf = (name: string) => verdict.steps.find(({ step }) => step === name)
  const sayOf = (name: string) => checkedStep(verdict, name)
  const valueOf = (name: string, value: string): unknown => checkOf(name)?.values[value]
  const hashes = valueOf('link', 'hashes')
  const first = committed.announced ?? committed.opened
  const total = odds.reduce((sum, { weight }) => sum + weight, 0)
  return [
    {
      title: 'Commitment of the chain',
      ok: null,
      why: announced
        ? committed.announced === null
          ? 'The chain was opened with its commitment before its first draw.'
          : 'The commitment was published when the chain before it was opened, before its client seed was chosen.'
        : 'The chain was opened by this send: nothing shows that its commitment was not chosen to suit the seed.',
      facts: [
        ['Incarnation', codeCell(incarnation)],
        ['Chain', codeCell(chain)],
        ['Commitment', codeCell(commitment, first === null ? undefined : eventPath(first))],
        ['Published in event', eventCell(first)],
        ['Chain opened in event', eventCell(committed.opened)],
      ],
    },
    {
      title: 'Seed of the player',
      ok: null,
      why: 'Chosen by the player, or the user id. It was fixed when the chain was opened.',
      facts: [
        ['Client seed', codeCell(client_seed, committed.opened === null ? undefined : eventPath(committed.opened))],
        ['Fixed in event', eventCell(committed.opened)],
      ],
    },
    {
      title: `Link of send ${k}`,
      ...sayOf('link'),
      facts: [
        ['Link', codeCell(link, eventPath(position))],
        ['Revealed in event', eventCell(position)],
        ['SHA-256 of the link', codeCell(Array.isArray(hashes) ? String(hashes[0]) : null)],
        [
          k === 1 ? 'Which is the commitment, of event' : 'Which is the link before it, of event',
          eventCell(k === 1 ? first : committed.previousLink),
        ],
        [`After ${k} times`, codeCell(Array.isArray(hashes) ? String(hashes.at(-1)) : null)],
      ],
    },
    {
      title: 'Odds that were in force',
      ...sayOf('odds'),
      facts: [
        ['Hash of the odds', codeCell(odds_hash, committed.odds === null ? undefined : eventPath(committed.odds))],
        ['Defined in event', eventCell(committed.odds)],
        ['Sum of the weights', numberCell(total)],
      ],
      table: partTable<OddsLine>({
        label: 'Odds',
        empty: 'The odds are unknown.',
        columns: [
          part('Numbers', ({ range }) => textCell(range)),
          numberPart('Weight', ({ weight }) => numberCell(weight)),
          numberPart('Chance', ({ weight }) => textCell(`${((100 * weight) / total).toFixed(4)}%`)),
          numberPart('Pays', ({ multiplier }) => textCell(`${multiplier} × stake`)),
        ],
        rows: linesOf(odds),
      }),
    },
    {
      title: 'Numbers and rewards',
      ok: draws.every((_, i) => checkOf(`order ${i}`)?.ok === true),
      why: 'HMAC-SHA-256 of the label with the link gives words; the last one modulo the sum of the weights is the number.',
      facts: [],
      table: partTable<Order>({
        label: 'Orders',
        empty: 'Nothing was drawn.',
        columns: [
          part('Order', ({ i }) => codeCell(`${position}-${i}`)),
          part('Receiver', ({ receiver }) => personCell(receiver, names.get(receiver ?? 0))),
          part('Label', ({ i }) => codeCell(textOrNull(valueOf(`order ${i}`, 'label')))),
          part('Words read', ({ i }) => codeCell(wordsOf(valueOf(`order ${i}`, 'words')))),
          numberPart('Number', ({ r }) => numberCell(r, eventPath(position))),
          numberPart('Pays', ({ i }) => multiplierCell(valueOf(`order ${i}`, 'multiplier'))),
          numberPart('Paid to the sender', ({ reward }) => amountCell('diamonds', reward, eventPath(position))),
          part('Check', ({ i }) =>
            checkOf(`order ${i}`)?.ok === true
              ? statusCell('checked', 'good')
              : statusCell(checkOf(`order ${i}`)?.why ?? 'not checked', 'bad'),
          ),
        ],
        rows: draws.map((draw, i) => ({ ...draw, i, receiver: receiver_ids[i] ?? null })),
      }),
    },
    {
      title: 'Payment',
      ...paymentOf(details),
      facts: [],
      table: movementsTable({
        label: 'Movements',
        empty: 'Nothing moved.',
        rows: movements
          .filter(({ debit, credit }) => concerns(sender_id, debit, credit))
          .map((movement) => ({ ...movement, position })),
      }),
    },
    { title: 'The ledger says the same', ...sayOf('ledger'), facts: [['Event of the draw', eventCell(position)]] },
  ]
}

interface Order {
  readonly i: number
  readonly r: number
  readonly reward: number
  readonly receiver: number | null
}

interface OddsLine {
  readonly range: string
  readonly multiplier: number
  readonly weight: number
}

/** Each row with the numbers that select it. */
function linesOf(odds: DrawDetails['odds']): OddsLine[] {
  let from = 0
  return odds.map(({ multiplier, weight }) => {
    const range = weight === 1 ? formatCount(from) : `${formatCount(from)} to ${formatCount(from + weight - 1)}`
    from += weight
    return { range, multiplier, weight }
  })
}

const HOUSE = account('house', 'gifts', 'diamonds')

/** Whether value moved between the sender and the house. */
const concerns = (senderId: number, debit: string, credit: string): boolean => {
  const sender = account('user', senderId, 'diamonds')
  return (debit === sender && credit === HOUSE) || (debit === HOUSE && credit === sender)
}

/** Whether the rewards were paid. */
function paymentOf({ event: { data, movements } }: DrawDetails): Pick<ProofStep, 'ok' | 'why'> {
  const sender = account('user', data.sender_id, 'diamonds')
  const paid = movements.reduce(
    (sum, { debit, credit, amount }) => (debit === HOUSE && credit === sender ? sum + BigInt(amount) : sum),
    0n,
  )
  const won = data.draws.reduce((sum, { reward }) => sum + BigInt(reward), 0n)
  const ok = paid === won
  const counts = `${won.toLocaleString('en')} diamonds were won and ${paid.toLocaleString('en')} were paid`
  return { ok, why: `${counts}, by the event of the draw.` }
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
const wordsOf = (value: unknown): string | null => (Array.isArray(value) ? value.join(' ') : null)
const multiplierCell = (value: unknown): Cell => textCell(typeof value === 'number' ? `${value} × stake` : null)
