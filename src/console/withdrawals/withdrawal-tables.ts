import type { WithdrawalStatus } from '../../../schema/agency-events.ts'
import { statusMovements } from '../../features/agency/change-status.ts'
import { type Withdrawal } from '../../features/agency/withdrawal.ts'
import { currencyOf } from '../../ledger/rules/account.ts'
import {
  amountCell,
  type Cell,
  codeCell,
  type Facts,
  formatWord,
  sentenceCase,
  statusCell,
  textCell,
  timeCell,
  withSuffix,
  wordCell,
} from '../frame/cells.ts'
import { accountCell, actorCell, eventCell, personCell } from '../frame/links.ts'
import { numberPart, part, partTable, type Table } from '../lists/list.ts'
import { movementsTable } from '../lists/movements-table.ts'
import { type AccountState, type StatusChange, type WithdrawalDetails } from './withdrawal-details.ts'
import { toneOf } from './withdrawal-list.ts'

export function factsOf({ withdrawal, user, target, beneficiary, country }: WithdrawalDetails): Facts {
  const { type, wallet, amount, diamonds_per_dollar, created_at } = withdrawal
  return [
    ['Amount', amountCell(wallet, amount)],
    ['From', textCell(`wallet of ${formatWord(wallet)}`)],
    ['Requester', personCell(user.id, user.name)],
    [type === 'cash' ? 'Business manager' : 'Charging agent', personCell(target.id, target.name)],
    ...(beneficiary === null ? [] : [['Diamonds go to', personCell(beneficiary.id, beneficiary.name)] as const]),
    ['Type', wordCell(type)],
    ...(diamonds_per_dollar === null
      ? []
      : [['Rate', textCell(`${diamonds_per_dollar.toLocaleString('en')} diamonds a dollar`)] as const]),
    ['Country', textCell(country.name || `Country ${country.id}`)],
    ['Requested', timeCell(created_at)],
  ]
}

export const decisionFact = ({ to, actor, at }: StatusChange): readonly [string, Cell] => [
  to === 'pending' ? 'Requested by' : `${sentenceCase(to)} by`,
  to === 'pending' ? actorCell(actor) : withSuffix(actorCell(actor), timeCell(at)),
]

export function writtenFacts({
  bank_details,
  payment_method,
  user_notice,
}: WithdrawalDetails['written']): Facts | null {
  const facts: Facts = [
    ...(bank_details === null
      ? []
      : ([
          ['Bank', textCell(bank_details.bank_name)],
          ['Account holder', textCell(bank_details.account_name)],
          ['Account number', codeCell(bank_details.account_number)],
        ] as const)),
    ...(payment_method === null ? [] : [['Payment method', textCell(payment_method)] as const]),
    ...(user_notice === null ? [] : [['Notice of the requester', textCell(user_notice)] as const]),
  ]
  return facts.length === 0 ? null : facts
}

const parties = { requester: 'requester', target: 'agent or manager', staff: 'staff' } as const

export const timelineOf = (changes: readonly StatusChange[]): Table =>
  partTable<StatusChange>({
    label: 'Timeline',
    empty: 'There are no events of this request.',
    columns: [
      part('When', ({ at }) => timeCell(at)),
      part('Status', ({ to }) => statusCell(to, toneOf(to))),
      part('Who', ({ actor }) => actorCell(actor)),
      part('As', ({ by }) => textCell(parties[by])),
      part('Note', ({ note, isNoteLost }) => textCell(isNoteLost ? '(erased, or cannot be read)' : note)),
      part('Event', ({ position }) => eventCell(position)),
    ],
    rows: changes,
  })

export const movementsOf = (changes: readonly StatusChange[]): Table =>
  movementsTable({
    label: 'Movements',
    empty: 'No dollars have moved. Those of a pending request are on hold in the wallet.',
    rows: changes.flatMap(({ position, movements }) => movements.map((movement) => ({ ...movement, position }))),
  })

export const accountsOf = (accounts: readonly AccountState[]): Table =>
  partTable<AccountState>({
    label: 'Accounts',
    empty: '',
    columns: [
      part('Account', ({ account }) => accountCell(account)),
      numberPart('Balance now', ({ account, balance }) => amountCell(currencyOf(account), balance)),
      numberPart('On hold, all requests', ({ account, held }) => amountCell(currencyOf(account), held)),
    ],
    rows: accounts,
  })

/** What a status change would do to each account, from what to what. */
export function effectsOf(withdrawal: Withdrawal, to: WithdrawalStatus, accounts: readonly AccountState[]): Table {
  const movements = statusMovements(withdrawal, to)
  const released = withdrawal.status === 'pending' ? BigInt(withdrawal.amount) : 0n
  const changeOf = (account: string): bigint =>
    movements.reduce(
      (sum, { debit, credit, amount }) =>
        sum + (credit === account ? BigInt(amount) : 0n) - (debit === account ? BigInt(amount) : 0n),
      0n,
    )
  const rows = accounts.flatMap(({ account, balance, held }) => {
    const change = changeOf(account)
    return [
      ...(change === 0n ? [] : [{ account, what: 'Balance', before: balance, after: balance + change }]),
      ...(released === 0n || held === 0n ? [] : [{ account, what: 'On hold', before: held, after: held - released }]),
    ]
  })
  return partTable<(typeof rows)[number]>({
    label: 'What changes',
    empty: 'No balance changes.',
    columns: [
      part('Account', ({ account }) => accountCell(account)),
      part('What', ({ what }) => textCell(what)),
      numberPart('Now', ({ account, before }) => amountCell(currencyOf(account), before)),
      numberPart('Then', ({ account, after }) => amountCell(currencyOf(account), after)),
    ],
    rows,
  })
}
