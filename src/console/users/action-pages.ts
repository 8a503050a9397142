import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { needsProposal } from '../../features/proposals/reads.ts'
import type { App } from '../../features/services.ts'
import type { ConsoleServices } from '../console-services.ts'
import { addReviewedAction, expectsField, FOUR_EYES } from '../layout/action.ts'
import { textCell } from '../layout/cells.ts'
import { readSentValues, type Values, valuesSchema } from '../layout/fields.ts'
import { addressWith, userPath } from '../layout/links.ts'
import type { SectionsPage } from '../layout/page.ts'
import { numberPart, part, partTable } from '../lists/list.ts'
import { staffOf } from '../session/session-check.ts'
import { findUser, personName, type User } from './find-user.ts'
import { type Change, endSessionsAction, flagsAction, type Review, type UserAction } from './user-action.ts'
import { addToBagAction, creditAction, debitAction, grantCardsAction } from './value-actions.ts'

export const userActions: readonly UserAction[] = [
  creditAction,
  debitAction,
  grantCardsAction,
  addToBagAction,
  flagsAction,
  endSessionsAction,
]

const CHANGED_MEANWHILE = 'Somebody changed this user after your review. Your change was not made: review it again.'

/**
 * Actions on users, for operators only: a form, whose GET leads to a page that shows what would change, whose POST does it. A
 * refusal is shown on the form, next to what was typed.
 */
export function addActionPages(scope: App, services: ConsoleServices): void {
  for (const one of userActions) addActionPage(scope, services, one)
}

function addActionPage(scope: App, services: ConsoleServices, one: UserAction): void {
  const { names, done, requestOf } = one
  const path = `/users/:id/${one.path}`
  const fields = valuesSchema(names)
  const read = async (request: FastifyRequest) => {
    const { db } = await services.chooseReportDatabase()
    return { db, user: await findUser(db, request) }
  }
  addReviewedAction(scope, services, {
    path,
    query: Type.Object({ ...fields, review: Type.Optional(Type.String({ maxLength: 1 })) }),
    async review(request, query) {
      const { db, user } = await read(request)
      const values = readSentValues(names, query)
      if (names.length > 0 && query.review === undefined) return formPage(db, one, user, values)
      const review = await one.review(db, user, values)
      if ('errors' in review) return { ...(await formPage(db, one, user, values, review.errors)), status: 422 }
      const isProposed =
        review.limited !== undefined && (await needsProposal(db, `staff:${staffOf(request).sub}`, [review.limited]))
      return reviewPage(one, user, values, review, isProposed)
    },
    fields: { ...fields, expects: Type.Optional(expectsField.expects) },
    async action(request, form) {
      const { user_id: id } = (await read(request)).user
      return { ...requestOf(id, readSentValues(names, form)), back: userPath(id), done }
    },
    async refused(request, form, { status, message, errors }) {
      if (status === 422 && names.length === 0) return null
      const { db, user } = await read(request)
      const wrong = status === 412 ? { '': CHANGED_MEANWHILE } : { '': message, ...errors }
      return formPage(db, one, user, readSentValues(names, form), wrong)
    },
  })
}

/** Where an action is, and what all of its pages begin with. */
const pageOf = ({ title, path }: UserAction, user: User) => {
  const name = personName(user)
  return {
    action: `${userPath(user.user_id)}/${path}`,
    heading: [`${title}: `, textCell(name)],
    up: textCell(name, userPath(user.user_id)),
  }
}

async function formPage(
  db: Kysely<Tables>,
  one: UserAction,
  user: User,
  values: Values,
  errors?: Values,
): Promise<SectionsPage> {
  const { action, ...page } = pageOf(one, user)
  const fields = await one.fieldsOf(db, user)
  return {
    ...page,
    title: one.title,
    sections: [
      { lead: one.lead, note: one.isDoneAlone === true ? FOUR_EYES : null },
      { alert: errors === undefined ? null : (errors[''] ?? 'This is not possible: see below.') },
      {
        form: {
          method: 'get',
          action,
          class: 'panel action',
          hidden: { review: '1' },
          fields,
          values: { ...Object.fromEntries(fields.map(({ name, value = '' }) => [name, value])), ...values },
          errors: errors ?? {},
          button: 'Review',
        },
      },
    ],
  }
}

function reviewPage(
  one: UserAction,
  user: User,
  values: Values,
  { given, changes, button, expects, sent = values }: Exclude<Review, { errors: Values }>,
  isProposed: boolean,
): SectionsPage {
  const { action, ...page } = pageOf(one, user)
  const columns = [
    part('What', ({ what }: Change) => what),
    numberPart('Now', ({ from }: Change) => from),
    numberPart(isProposed ? 'Once approved' : 'After', ({ to }: Change) => to),
  ]
  const leave = { href: userPath(user.user_id), text: 'leave without doing it' }
  const edit = { href: addressWith(action, values), text: 'Change what was entered' }
  return {
    ...page,
    title: `${one.title}: review`,
    sections: [
      {
        note: isProposed
          ? 'This is more than you may move alone in 24 hours: it becomes a proposal, and nothing changes until a second member of staff approves it.'
          : 'Nothing has changed yet. Look at what would change, and then confirm it or go back.',
      },
      { note: one.isDoneAlone === true ? FOUR_EYES : null, facts: given.length === 0 ? null : given },
      {
        title: 'What would change',
        table: partTable({ label: 'What would change', columns, rows: changes, empty: 'Nothing.' }),
        form: {
          method: 'post',
          action,
          hidden: { ...(expects === undefined ? {} : { expects }), ...sent },
          button: isProposed ? `Propose to ${button.charAt(0).toLowerCase()}${button.slice(1)}` : button,
        },
      },
      { text: one.names.length === 0 ? [leave] : [edit, ' or ', leave] },
    ],
  }
}
