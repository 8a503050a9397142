import { Type } from '@sinclair/typebox'
import type { App } from '../../../features/services.ts'
import { validationFailed } from '../../../http/validation/validation.ts'
import { fieldMessages } from '../../../language/field-messages.ts'
import { parseId } from '../../../ledger/rules/parse-id.ts'
import type { ConsoleServices } from '../../console-services.ts'
import { sendPage } from '../../frame/send-page.ts'
import { defineTemplate } from '../../frame/template.ts'
import { requireOperator } from '../../session/require-operator.ts'

const template = defineTemplate<object>('/live/playground/playground.eta')

const TokenForm = Type.Object({
  _csrf: Type.Optional(Type.String({ maxLength: 300 })),
  user_id: Type.String({ maxLength: 20 }),
})

/**
 * /console/live/playground: one signs in as a user and sees the frames of a socket. Only where this service makes tokens
 * for development; elsewhere there is no such page.
 */
export function playgroundPages(scope: App, { signUserToken }: Pick<ConsoleServices, 'signUserToken'>): void {
  if (signUserToken === null) return

  scope.get('/live/playground', (request, reply) => {
    requireOperator(request)
    return sendPage(request, reply, template, { title: 'Socket playground', data: {}, scripts: ['playground'] })
  })

  scope.post('/live/playground/token', { schema: { body: TokenForm } }, async (request, reply) => {
    const userId = parseId(request.body.user_id)
    if (userId === null) throw validationFailed({ user_id: [fieldMessages.unknown_user] })
    return reply.type('application/json; charset=utf-8').send({ token: signUserToken(userId) })
  })
}
