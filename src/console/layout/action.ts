import { type Static, type TObject, type TProperties, Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../features/services.ts'
import type { HttpError } from '../../http/errors/http-error.ts'
import { type AdminRequest, adminError } from '../console-services.ts'
import { requireOperator } from '../session/session-check.ts'
import { type DoneCode, leadToDone } from './done.ts'
import type { Values } from './fields.ts'
import { type SectionsPage, sendSections } from './page.ts'

/** Fields of every form that acts: what `/layout/form-fields.eta` writes. */
export const actionFields = {
  _csrf: Type.Optional(Type.String({ maxLength: 300 })),
  /** Made for each form, so that a form that is sent twice acts once. */
  key: Type.String({ minLength: 1, maxLength: 100 }),
}

/** A field of a form that changes only what its review showed: the version of that; empty when there was nothing. */
export const expectsField = { expects: Type.String({ pattern: '^([0-9a-f]{64})?$' }) }

/** What needs no second member of staff. */
export const FOUR_EYES =
  'With approvals on, a price that makes the gifts in all bags worth more than the limit allows waits for a second operator. One operator alone changes the rest of the catalogue, flags of users and rates, and decides withdrawals: what is saved is in force at once.'

/** What a form asks for. */
export interface Action {
  readonly method: 'POST' | 'PUT' | 'DELETE'
  /** Under /admin/v1. */
  readonly path: string
  readonly body?: unknown
  /** The page that shows what was done. */
  readonly back: string
  /** What it says there. */
  readonly done: DoneCode
}

/** Why /admin/v1 did not do what a form asks for. */
interface Refusal {
  /** 412: something else is stored than the form expects. 422: what was typed is not accepted. */
  readonly status: 412 | 422
  readonly message: string
  /** By field. */
  readonly errors: Values
}

/** A route that a form is sent to. */
interface ActionRoute<Fields extends TProperties> {
  readonly path: string
  readonly params?: TObject
  /** What the form has besides `actionFields`. With `expectsField` it acts only on the version that it was made for. */
  readonly fields: Fields
  readonly mayFinanceWrite?: true
  readonly action: (request: FastifyRequest, form: Static<TObject<Fields>>) => Action | Promise<Action>
  /** The page that says why nothing was done. Null, as without it: the page of errors says so. */
  readonly refused?: (
    request: FastifyRequest,
    form: Static<TObject<Fields>>,
    refusal: Refusal,
  ) => Promise<SectionsPage | null>
}

type Services = { readonly adminRequest: AdminRequest }

/**
 * Adds a route that does what a form asks for by a route of /admin/v1, and leads to the page that shows it; a proposal,
 * which another member of staff has to approve, leads to its own page.
 */
export function addAction<Fields extends TProperties>(
  scope: App,
  { adminRequest }: Services,
  { path, params, fields, mayFinanceWrite, action, refused }: ActionRoute<Fields>,
): void {
  const schema = { body: Type.Object({ ...actionFields, ...fields }), ...(params === undefined ? {} : { params }) }
  const config = mayFinanceWrite === undefined ? {} : { mayFinanceWrite }
  scope.post(path, { config, schema }, async (request: FastifyRequest, reply: FastifyReply) => {
    // The schema has checked it.
    const form = request.body as Static<TObject<Fields>> & { readonly key: string; readonly expects?: string }
    const { method, path: adminPath, body = {}, back, done } = await action(request, form)
    const options = { method, path: adminPath, body, expects: form.expects, idempotencyKey: form.key }
    const response = await adminRequest(request, options)
    if (response.status < 400) {
      const { data } = Object(response.body)
      return response.status === 202
        ? leadToDone(request, reply, `/console/proposals/${String(Object(data).id)}`, 'proposed')
        : leadToDone(request, reply, back, done)
    }
    const error = adminError(response)
    const refusal = refusalOf(error)
    const page = refusal === null ? null : await refused?.(request, form, refusal)
    if (refusal === null || page === null || page === undefined) throw error
    return sendSections(request, reply, { ...page, status: refusal.status })
  })
}

function refusalOf({ status, text, errors = {} }: HttpError): Refusal | null {
  if (status !== 412 && status !== 422) return null
  const byField = Object.entries(errors).map(([name, texts]) => [name, texts.map(({ en }) => en).join(' ')])
  return { status, message: text.en, errors: Object.fromEntries(byField) }
}

/** What is hard to take back: a page shows what would change, with the form that does it. */
interface ReviewedAction<Query extends TObject, Fields extends TProperties> extends ActionRoute<Fields> {
  /** Where the page is; where the form is sent, where it is left out. */
  readonly reviewPath?: string
  readonly query: Query
  /** The page; the address of another one where there is nothing to review. */
  readonly review: (request: FastifyRequest, query: Static<Query>) => Promise<SectionsPage | string>
}

/** Adds the page that reviews an action, and the route that does it: for operators only, unless finance may act. */
export function addReviewedAction<Query extends TObject, Fields extends TProperties>(
  scope: App,
  services: Services,
  reviewed: ReviewedAction<Query, Fields>,
): void {
  const { reviewPath = reviewed.path, query: querystring, params, mayFinanceWrite } = reviewed
  const schema = { querystring, ...(params === undefined ? {} : { params }) }
  scope.get(reviewPath, { schema }, async (request: FastifyRequest, reply: FastifyReply) => {
    if (mayFinanceWrite === undefined) requireOperator(request)
    const page = await reviewed.review(request, request.query as Static<Query>)
    return typeof page === 'string' ? reply.redirect(page, 303) : sendSections(request, reply, page)
  })
  addAction(scope, services, reviewed)
}
