import { Type } from '@sinclair/typebox'
import { dataOf, isOn, PathId } from '../../../schema/common.ts'
import { BagItem, InstantSend, SendDecoration, SendResult } from '../../../schema/gifts.ts'
import { userOf } from '../../http/auth/caller.ts'
import { charge } from '../../http/limits/rate-limit.ts'
import { idInPath } from '../../http/validation/request-parts.ts'
import { languageOf } from '../../language/request-language.ts'
import type { App, Services } from '../services.ts'
import { bagItem } from './presenters.ts'
import { bagLookup } from './reads.ts'
import type { GiftVerbs } from './verbs.ts'

/** Cost of one more order and draw within a request. */
const COST_PER_ADDITIONAL_RECEIVER = 0.3

/** Client routes for gifts. */
export function giftRoutes(app: App, services: Services, verbs: GiftVerbs): void {
  const { execute, db, settings } = services
  const bags = bagLookup(db)

  app.post(
    '/instant-send',
    {
      config: { writes: 'paid' },
      schema: {
        operationId: 'instantSend',
        summary: 'Send a gift to one or more receivers; the response holds the lucky result',
        description:
          'u_id must be the caller, who cannot be a receiver: a gift to oneself is 422. All get the gift or none. The price, times quantity and receivers, is taken ' +
          'from the diamonds of the sender, or with is_bag the items from the bag. Each receiver is one order, drawn on its ' +
          'own where the gift has odds; rewards are paid at once, and diamonds is the balance after them. The room hears of ' +
          'it on the websocket after this answer.\n\n' +
          'Nobody has to be a member of the room. The stake of an order is the price times the quantity. A standard gift ' +
          'gives the receiver the whole stake as target points, the room 3 % of all stakes as target points and ' +
          'trophy_points for all diamonds; a lucky or returnable gift gives the receiver 10 % as target points, and the room ' +
          'nothing. Shares are rounded down. Gifts from the bag count like paid ones. Each further receiver counts as ' +
          `${COST_PER_ADDITIONAL_RECEIVER} requests in the rate limit.`,
        tags: ['gifts'],
        body: InstantSend,
        refusals: verbs.sendGift.refusals,
        response: { 200: SendResult },
      },
    },
    (request, reply) => {
      const receivers = request.body.user_id
      charge(request, (receivers.length - 1) * COST_PER_ADDITIONAL_RECEIVER)
      const input = {
        caller_id: userOf(request),
        sender_id: request.body.u_id,
        decoration_id: request.body.decoration_id,
        receiver_ids: receivers,
        quantity: request.body.quantity,
        room: request.body.room_id,
        from_bag: isOn(request.body.is_bag),
        encrypted: isOn(request.body.with_encryption),
      }
      return execute(request, reply, verbs.sendGift, input)
    },
  )

  app.post(
    '/users/:user_id/decorations/send',
    {
      config: { writes: 'paid' },
      schema: {
        operationId: 'sendDecoration',
        summary: 'Send a gift to one receiver',
        description: 'As instantSend, to the one user of the path; the sender is the caller, for whom it is 422.',
        tags: ['gifts'],
        params: Type.Object({ user_id: PathId }),
        body: SendDecoration,
        refusals: verbs.sendGift.refusals,
        response: { 200: SendResult },
      },
    },
    (request, reply) => {
      const receiver = idInPath(request.params.user_id)
      const caller = userOf(request)
      const input = {
        caller_id: caller,
        sender_id: caller,
        decoration_id: request.body.decoration_id,
        receiver_ids: [receiver],
        quantity: request.body.quantity,
        room: request.body.room_id,
        from_bag: isOn(request.body.is_bag),
        encrypted: isOn(request.body.with_encryption),
      }
      return execute(request, reply, verbs.sendGift, input)
    },
  )

  app.get(
    '/bag',
    {
      schema: {
        operationId: 'listBag',
        summary: 'Gifts that the caller owns and can send without paying',
        description: 'Answered whole. A gift is sent from it by `is_bag` of POST /instant-send.',
        tags: ['gifts'],
        response: { 200: dataOf(Type.Array(BagItem)) },
      },
    },
    async (request) => {
      const items = await bags.load(userOf(request))
      const language = languageOf(request)
      return { data: items.map((item) => bagItem(item, settings.assetBaseUrl, language)) }
    },
  )
}
