import { AppStatus, AppStatusHeaders, AppStatusQuery } from '../../../schema/app-status.ts'
import type { App, Services } from '../services.ts'
import type { OpenRouteChecks } from '../slice.ts'

/** The door at which clients ask when they start. It is open to everyone, always, and answers whatever is asked. */
export function appStatusRoutes(
  app: App,
  { appState }: Services,
  { isOurs: isSignatureValid, mayRemember }: OpenRouteChecks,
): void {
  app.get(
    '/app-status',
    {
      schema: {
        operationId: 'appStatus',
        summary: 'Whether the service is in maintenance, and whether the client is to be updated',
        description:
          'Always 200. Maintenance goes before updates. With a token, what the client tells of itself is remembered for ' +
          'requests of the same token that tell nothing. The languages of Accept-Language count by their quality.',
        tags: ['app status'],
        security: [{}, { bearer: [] }],
        headers: AppStatusHeaders,
        querystring: AppStatusQuery,
        response: { 200: AppStatus },
      },
      // Described, not demanded.
      validatorCompiler: () => () => true,
    },
    (request, reply) => {
      void reply
        .header('cache-control', 'no-store')
        .send(appState.statusFor(request, isSignatureValid, () => mayRemember(request)))
    },
  )
}
