import type { Actor } from './people.ts'

export type Kind =
  | 'define'
  | 'room'
  | 'enter'
  | 'gift'
  | 'lucky'
  | 'bag'
  | 'fill'
  | 'credit'
  | 'debit'
  | 'seed'
  | 'wallet'
  | 'grant'
  | 'activate'
  | 'transfer'
  | 'create'
  | 'host'
  | 'join'
  | 'leave'
  | 'finish'
  | 'cancel'
  | 'request'
  | 'approve'
  | 'reject'
  | 'settle'
  | 'instant'

/** Something that a client asks for; under one key it is always the same request. */
export interface Operation {
  readonly kind: Kind
  readonly actor: Actor
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly body: string | null
  /** What is to be remembered of the first answer, when it was done. */
  readonly onDone?: (text: string) => void
}

/** Cards of a grant: each has an event of its own. */
export const GRANTED = 3

/** The events of one command of each kind, in order: nothing less and nothing more. */
export const eventsOf: Readonly<Record<Kind, RegExp>> = {
  define: /^(user-defined ?)+$/,
  room: /^room-defined$/,
  enter: /^$/,
  gift: /^gift-sent$/,
  lucky: /^(lucky-chain-opened )*gift-drawn$/,
  bag: /^(gift-sent|(lucky-chain-opened )*gift-drawn)$/,
  fill: /^bag-items-added$/,
  credit: /^balance-credited$/,
  debit: /^balance-debited$/,
  seed: /^(lucky-chain-opened ?){1,2}$/,
  wallet: /^$/,
  grant: new RegExp(`^card-granted( card-granted){${GRANTED - 1}}$`),
  activate: /^card-activated privilege-(days-added|replaced)$/,
  transfer: /^card-moved$/,
  create: /^roulette-created$/,
  host: /^roulette-created roulette-joined$/,
  join: /^roulette-joined$/,
  leave: /^roulette-left$/,
  finish: /^roulette-finished$/,
  cancel: /^roulette-cancelled$/,
  request: /^withdrawal-requested$/,
  approve: /^withdrawal-status-changed$/,
  reject: /^withdrawal-status-changed$/,
  settle: /^withdrawal-status-changed$/,
  instant: /^instant-transfer-made$/,
}
