import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HttpError } from '../../http/errors/http-error.ts'
import { staffOrNull } from '../session/session-check.ts'
import { type NavigationItem, sectionOf } from './navigation.ts'
import { correctionOf, type QueryCorrection } from './query-correction.ts'
import { sendPage } from './send-page.ts'
import { defineTemplate } from './template.ts'

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

const template = defineTemplate<ErrorData>('/frame/error-page.eta')

const headings: Readonly<Record<number, string>> = {
  403: 'You may not do this',
  404: 'There is no such page',
  422: 'This cannot be done so',
  429: 'Too many requests',
}

/** Shows an error in the frame of the console, with the status and words that /admin/v1 has for it. */
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
