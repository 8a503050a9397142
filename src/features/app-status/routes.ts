import { AppStatus, AppStatusHeaders, AppStatusQuery } from '../../../schema/app-status.ts'
import type { App, Services } from '../services.ts'
import type { OpenRouteChecks } from '../slice.ts'

/** The route that clients call when they start. Open to everyone, also during maintenance, and never refused. */
export function appStatusRoutes(
  app: App,
  { appState }: Services,
  { isSignatureValid, mayRemember }: OpenRouteChecks,
): void {
  app.get(
    '/app-status',
    {
      schema: {
        operationId: 'appStatus',
        summary: 'Whether the service is in maintenance, and whether the client should or must update',
        description:
          'Always 200. Maintenance takes precedence over updates. With a token, the type and version of the client are ' +
          'stored and apply to requests of the same token that state neither. Accept-Language is read with qualities.',
        tags: ['app status'],
        security: [{}, { bearer: [] }],
        headers: AppStatusHeaders,
        querystring: AppStatusQuery,
        response: { 200: AppStatus },
      },
      // The schemas document the inputs; malformed ones are not refused.
      validatorCompiler: () => () => true,
    },
    (request, reply) => {
      void reply
        .header('cache-control', 'no-store')
        .send(appState.statusFor(request, isSignatureValid, () => mayRemember(request)))
    },
  )
}
