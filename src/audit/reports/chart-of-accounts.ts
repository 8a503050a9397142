import { type Holder, isDebt, isSystem } from '../../ledger/rules/account.ts'

/** One kind of account, or one of the system's own accounts. */
export interface ChartEntry {
  /** `user:<id>`, `house:gifts`. */
  readonly account: string
  readonly mayBeNegative: boolean
  /** For accountants. */
  readonly meaning: string
}

const kinds: Readonly<Record<Holder, string>> = {
  user: 'What a user owns; what is on hold for a pending withdrawal is part of it.',
  debt: 'What a user owes since more was taken back than was left, as a negative amount; never above zero.',
  room: 'The target points that a room has earned by standard gifts.',
  game: 'The coins that players have paid into a roulette; zero once it is finished or cancelled.',
  withdrawal: 'The dollars of an approved withdrawal until they are transferred or given back; zero after that.',
  settled: 'The dollars of the withdrawals that a charging agent or business manager has paid out.',
  house: "The platform's own: what it took in, less what it paid out.",
  issuance: 'Where value comes from: what was issued, as a negative amount, less what was taken back.',
  purchases: 'What was sold by a provider of payments, as a negative amount, less what was refunded.',
}

/** The system's own accounts, by kind and id. */
const systemAccounts: Readonly<Record<string, string>> = {
  'house:gifts': 'Diamonds paid for gifts, less those won by their draws.',
  'house:roulette': "The house's fees of finished games.",
  'house:exchange': 'Dollars that users exchanged for diamonds at once.',
  'house:salary': 'Target points that salaries were paid for.',
  'house:withdrawals':
    'Agent dollars of approved withdrawals, and the same amount of dollars, negative, paid on for them.',
  'issuance:operator': 'Credits by operators, less their debits.',
  'issuance:gifts': 'Target points for receivers of gifts, rooms and their owners.',
  'issuance:exchange': 'Diamonds given for exchanged dollars.',
  'issuance:salary': 'Salaries paid.',
}

const toEntry = (account: string, meaning: string): ChartEntry => ({
  account,
  mayBeNegative: isSystem(account) || isDebt(account),
  meaning,
})

/** Every kind of account, and below its kind each of the system's own. */
export const chartOfAccounts: readonly ChartEntry[] = Object.entries(kinds).flatMap(([kind, meaning]) => {
  const own = Object.entries(systemAccounts).filter(([account]) => account.startsWith(`${kind}:`))
  return [toEntry(`${kind}:<id>`, meaning), ...own.map(([account, what]) => toEntry(account, what))]
})
