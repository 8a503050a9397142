import type { FastifyReply, FastifyRequest } from 'fastify'
import type { HttpError } from '../../http/errors/http-error.ts'
import { sendPage } from './send-page.ts'
import { defineTemplate } from './template.ts'

interface ErrorData {
  readonly heading: string
  readonly message: string
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
  const heading = headings[status] ?? (isOurs ? 'Something went wrong here' : 'This request was refused')
  return sendPage(request, reply.headers(headers), template, {
    title: heading,
    status,
    data: {
      heading,
      message: text.en,
      fields: Object.entries(errors ?? {}).map(([name, messages]) => ({
        name,
        messages: messages.map(({ en }) => en),
      })),
      requestId: request.id,
      isOurs,
    },
  })
}
