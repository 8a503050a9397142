import { dataOf } from '../../../../schema/common.ts'
import { Device, DeviceParams, DeviceRemoved, RegisterDevice } from '../../../../schema/devices.ts'
import { userOf } from '../../../http/auth/caller.ts'
import type { App, Services } from '../../services.ts'
import type { UserVerbs } from '../verbs.ts'

const tags = ['devices']

/** Client routes for the devices that receive push notifications. */
export function deviceRoutes(app: App, services: Services, verbs: UserVerbs): void {
  const { execute } = services

  app.post(
    '/devices',
    {
      schema: {
        operationId: 'registerDevice',
        summary: 'Register a device for push notifications; its token then belongs to the caller only',
        description:
          'The token is that of Firebase Cloud Messaging. What a device gets, where all values of data are strings, ' +
          '`type` and `identifier` are those of the inbox, and `withdrawal_id` is there for an agency-withdrawal only:\n\n' +
          '```json\n' +
          '{"notification": {"title": "Withdrawal approved", "body": "…"}, "data": {"type": "withdrawal", ' +
          '"identifier": "agency-withdrawal", "withdrawal_id": "41"}, "android": {"notification": {"tag": ' +
          '"agency-withdrawal-57"}}}\n' +
          '```\n\n' +
          'The tag (on iOS the apns-collapse-id) ends in the position of the event, which is the id of the notification in ' +
          'the inbox. A message may come twice; the second one replaces the first.',
        tags,
        body: RegisterDevice,
        refusals: verbs.registerDevice.refusals,
        response: { 201: dataOf(Device) },
      },
    },
    (request, reply) => {
      const { token, platform, language = 'en' } = request.body
      return execute(request, reply, verbs.registerDevice, { user_id: userOf(request), token, platform, language })
    },
  )

  app.delete(
    '/devices/:token',
    {
      schema: {
        operationId: 'removeDevice',
        summary: 'Stop push notifications to a device',
        description: 'For a sign-out. A token that is unknown, or registered by another user, changes nothing.',
        tags,
        params: DeviceParams,
        refusals: verbs.removeDevice.refusals,
        response: { 200: DeviceRemoved },
      },
    },
    (request, reply) => {
      const input = { user_id: userOf(request), token: request.params.token }
      return execute(request, reply, verbs.removeDevice, input)
    },
  )
}
