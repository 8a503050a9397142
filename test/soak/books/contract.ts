import { type TSchema, Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { InstantTransfer, Withdrawal } from '../../../schema/agency.ts'
import { dataOf, ErrorBody } from '../../../schema/common.ts'
import { PublishedChains } from '../../../schema/fairness.ts'
import { AddedBagItems, SendResult } from '../../../schema/gifts.ts'
import { BalanceMoved, RoomRecord, UserRecord } from '../../../schema/operator.ts'
import { Activated, Transferred, WalletCard } from '../../../schema/privilege.ts'
import { RoomResource } from '../../../schema/rooms.ts'
import { Cancelled, FinishedGame, Game } from '../../../schema/roulette.ts'
import { Wallet } from '../../../schema/wallet.ts'
import { GRANTED, type Kind } from '../load/operation.ts'

/** The result of a request. */
export type Result =
  /** Done or refused, and stored. */
  | { readonly outcome: 'final'; readonly status: number; readonly text: string; readonly replayed: boolean }
  /** To be retried: it may or may not have been done. */
  | { readonly outcome: 'retry'; readonly status: number }
  /** No complete answer; `timedOut`: the client gave up, and the service may still execute it. */
  | { readonly outcome: 'cut'; readonly timedOut: boolean }
  /** An answer that the contract does not allow. */
  | { readonly outcome: 'invalid'; readonly status: number; readonly text: string }

/** The parts of a response that are judged. */
export interface Response {
  readonly status: number
  /** By lower-case name; null when it is missing. */
  readonly header: (name: string) => string | null
  readonly text: string
}

interface Answer {
  readonly status: 200 | 201
  readonly isBody: (value: unknown) => boolean
  /** The only codes that these requests can get; what they name has existed. */
  readonly refusals: readonly string[]
}

const checker = (schema: TSchema): ((value: unknown) => boolean) => {
  const compiled = TypeCompiler.Compile(schema)
  return (value) => compiled.Check(value)
}

const answer = (status: 200 | 201, schema: TSchema, ...refusals: string[]): Answer => ({
  status,
  isBody: checker(schema),
  refusals,
})

/** Refusals for a game that has ended. */
const gameEnded = ['game_finished', 'game_cancelled'] as const

/** Refusals for a withdrawal with another status, or of other users. */
const notAllowed = ['not_your_withdrawal', 'invalid_transition', 'not_your_decision'] as const

const answers: Readonly<Record<Kind, Answer>> = {
  gift: answer(200, SendResult, 'insufficient_balance'),
  lucky: answer(200, SendResult, 'insufficient_balance'),
  bag: answer(200, SendResult, 'insufficient_items'),
  fill: answer(201, dataOf(AddedBagItems)),
  credit: answer(201, dataOf(BalanceMoved)),
  debit: answer(201, dataOf(BalanceMoved), 'insufficient_balance'),
  seed: answer(200, dataOf(PublishedChains)),
  wallet: answer(200, Wallet),
  define: answer(200, dataOf(Type.Array(UserRecord))),
  room: answer(200, dataOf(RoomRecord)),
  enter: answer(200, dataOf(RoomResource)),
  grant: answer(201, dataOf(Type.Array(WalletCard, { minItems: GRANTED, maxItems: GRANTED }))),
  activate: answer(200, Activated, 'not_your_card', 'card_already_activated', 'too_few_days'),
  transfer: answer(200, Transferred, 'not_card_owner', 'card_already_activated'),
  create: answer(201, dataOf(Game), 'game_already_open'),
  host: answer(201, dataOf(Game), 'game_already_open', 'insufficient_balance'),
  join: answer(200, dataOf(Game), ...gameEnded, 'already_joined', 'game_full', 'insufficient_balance'),
  leave: answer(200, dataOf(Game), ...gameEnded, 'not_joined'),
  finish: answer(200, dataOf(FinishedGame), 'not_in_game', ...gameEnded, 'not_enough_players'),
  cancel: answer(200, Cancelled, 'not_game_creator', ...gameEnded),
  request: answer(201, dataOf(Withdrawal), 'insufficient_balance'),
  approve: answer(200, dataOf(Withdrawal), ...notAllowed),
  reject: answer(200, dataOf(Withdrawal), ...notAllowed),
  settle: answer(200, dataOf(Withdrawal), ...notAllowed),
  instant: answer(201, dataOf(InstantTransfer), 'insufficient_balance'),
}

/** Refusals with status 403. */
const forbidden = ['not_your_card', 'not_in_game', 'not_game_creator', 'not_your_withdrawal', 'not_your_decision']

/** An error without any other fields. */
const isError = checker(Type.Object(ErrorBody.properties, { additionalProperties: false }))

/** Compares an answer with the contract: status, code, headers and schema of the body. */
export function judge(kind: Kind, { status, header, text }: Response): Result {
  const invalid: Result = { outcome: 'invalid', status, text: text.slice(0, 500) }
  if (header('content-type') !== 'application/json; charset=utf-8') return invalid
  const body = bodyOf(text)
  const replayed = header('idempotency-replayed') === 'true'
  const { status: expectedStatus, isBody, refusals } = answers[kind]
  if (status === expectedStatus && isBody(body)) return { outcome: 'final', status, text, replayed }
  const code = codeOf(body)
  if (code === null) return invalid
  if (status === (forbidden.includes(code) ? 403 : 422) && refusals.includes(code))
    return { outcome: 'final', status, text, replayed }
  if (replayed) return invalid
  if (status === 500 && code === 'unavailable') return { outcome: 'retry', status }
  if (status === 429 && code === 'overloaded' && /^[1-9]\d*$/.test(header('retry-after') ?? '')) {
    return { outcome: 'retry', status }
  }
  return invalid
}

const codeOf = (body: unknown): string | null =>
  isError(body) && typeof body === 'object' && body !== null && 'code' in body ? String(body.code) : null

function bodyOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
