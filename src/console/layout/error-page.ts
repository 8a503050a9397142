import type { FastifyReply, FastifyRequest } from 'fastify'
import { auditMessages } from '../../audit/messages.ts'
import { AS_OF_FORMAT } from '../../audit/reports/period.ts'
import type { HttpError } from '../../http/errors/http-error.ts'
import { violationMessages } from '../../http/validation/messages.ts'
import type { FieldErrors } from '../../language/messages.ts'
import { staffOrNull } from '../session/session-check.ts'
import { formatWord, sentenceCase } from './cells.ts'
import { type NavigationItem, sectionOf, sendPage } from './send-page.ts'
import { defineTemplate } from './templates.ts'

interface ErrorData {
  readonly heading: string
  readonly message: string
  /** Null where the address of the page is not what was wrong. */
  readonly correction: QueryCorrection | null
  /** Where the menu has this page; null for none. */
  readonly section: NavigationItem | null
  /** What is wrong and not in the correction. */
  readonly fields: readonly { readonly name: string; readonly messages: readonly string[] }[]
  readonly requestId: string
  readonly isOurs: boolean
}

const template = defineTemplate<ErrorData>('/layout/error-page.eta')

const headings: Readonly<Record<number, string>> = {
  403: 'You may not do this',
  404: 'There is no such page',
  422: 'This is not possible',
  429: 'Too many requests',
}

/** Shows an error in the layout of the console, with the status and words that /admin/v1 has for it. */
export function sendErrorPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, text, errors, headers }: HttpError,
): Promise<FastifyReply> {
  const isOurs = status >= 500
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const correction = isRead && status === 422 && errors !== undefined ? correctionOf(request, errors) : null
  const corrected = correction?.fields.map(({ name }) => name) ?? []
  const heading =
    correction !== null
      ? 'This has to be written differently'
      : (headings[status] ?? (isOurs ? 'Something went wrong here' : 'This request was refused'))
  return sendPage(request, reply.headers(headers), template, {
    title: heading,
    status,
    data: {
      heading,
      message: text.en,
      correction,
      section: staffOrNull(request) === null ? null : sectionOf(request.originalUrl.split('?', 1)[0] ?? ''),
      fields: Object.entries(errors ?? {})
        .filter(([name]) => !corrected.includes(name))
        .map(([name, messages]) => ({ name, messages: messages.map(({ en }) => en) })),
      requestId: request.id,
      isOurs,
    },
  })
}

/** A field of a page's address, to be written again. */
interface CorrectedField {
  readonly name: string
  readonly label: string
  readonly value: string
  /** What is wrong with it, and what to write; null for one that may be right. */
  readonly message: string | null
}

/** A form that asks for the same page with other values. */
interface QueryCorrection {
  /** The page's path. */
  readonly path: string
  readonly fields: readonly CorrectedField[]
  /** The other parameters of the address, which stay. */
  readonly kept: readonly (readonly [name: string, value: string])[]
  /** The same page without what is wrong. */
  readonly withoutHref: string
}

const PERIOD_EXAMPLE = 'Write a day as 2026-10-31, a time as 2026-10-31T08:00:00Z, or a position as 34.'
const NUMBER_EXAMPLE = 'Write a number, such as 7.'

/** The fields that people write whose labels are not their names. */
const labels: Readonly<Record<string, string>> = {
  q: 'Search',
  sub: 'Member of staff',
  user: 'User, by number',
  gift: 'Gift, by number',
  agent: 'Agent, by number',
  request_id: 'Request',
  key: 'Idempotency key',
}

const examples: Readonly<Record<string, string>> = {
  from: PERIOD_EXAMPLE,
  to: PERIOD_EXAMPLE,
  as_of: PERIOD_EXAMPLE,
  user: NUMBER_EXAMPLE,
  gift: NUMBER_EXAMPLE,
  agent: NUMBER_EXAMPLE,
  account: 'Write an account, such as user:7:coins.',
  sub: 'Write the name of a member of staff, such as ann.',
}

/** The ends of a period depend on each other. */
const periodNames = new Set(['from', 'to', 'as_of'])
/** What links have and nobody writes; `cursor` also continues a list that the correction changes. */
const linkNames = new Set(['at', 'cursor', 'before', 'count', 'sort'])
/** Messages that say no more than the example. */
const formMessages = new Set([auditMessages.as_of(AS_OF_FORMAT).en, violationMessages.invalid_format.en])

const MAX_KEPT = 20

/** How to correct the address of a page; null where nothing in it was written by hand. */
function correctionOf(request: FastifyRequest, errors: FieldErrors): QueryCorrection | null {
  const [address = '', ...texts] = request.originalUrl.split('?')
  // A file has no page to write in: its list has.
  const path = address.replace(/\/(export|statement)\.[a-z]+$/, '')
  const query = new URLSearchParams(texts.join('?'))
  const written = new Map([...query].filter(([name]) => name !== 'cursor'))
  const isWrong = (name: string): boolean => Object.hasOwn(errors, name)
  const wrong = Object.keys(errors).filter((name) => !linkNames.has(name) && written.has(name))
  if (wrong.length === 0) return null
  const isOfPeriod = wrong.some((name) => periodNames.has(name))
  const isShown = (name: string): boolean => wrong.includes(name) || (isOfPeriod && periodNames.has(name))
  const right = [...written].filter(([name]) => !isWrong(name)).slice(0, MAX_KEPT)
  const rest = new URLSearchParams(right).toString()
  return {
    path,
    fields: [...written]
      .filter(([name]) => isShown(name))
      .map(([name, value]) => ({
        name,
        label: labelOf(name),
        value,
        message: isWrong(name) ? messageOf(name, errors[name]?.map(({ en }) => en) ?? []) : null,
      })),
    kept: right.filter(([name]) => !isShown(name)),
    withoutHref: rest === '' ? path : `${path}?${rest}`,
  }
}

function labelOf(name: string): string {
  return labels[name] ?? sentenceCase(formatWord(name))
}

/** `The value must be at most 7. Write a number, such as 7.` */
function messageOf(name: string, messages: readonly string[]): string {
  const example = examples[name]
  const sentences = messages.filter((message) => example === undefined || !formMessages.has(message))
  return [...sentences, ...(example === undefined ? [] : [example])].join(' ')
}
