import type { FastifyRequest } from 'fastify'
import type { LocalizedText } from '../../../schema/languages.ts'
import { HttpError } from '../../http/errors/http-error.ts'

const foreignForm: LocalizedText = {
  en: 'This form was not sent from a page of the console. Nothing was changed.',
  ar: 'لم يُرسل هذا النموذج من صفحة في لوحة التحكم. لم يتغير شيء.',
}

const outdated: LocalizedText = {
  en: 'This form is no longer valid. Go back, load its page again and send it once more. Nothing was changed.',
  ar: 'لم يعد هذا النموذج صالحًا. ارجع وأعد تحميل صفحته ثم أرسله مرة أخرى. لم يتغير شيء.',
}

/** A form without the token that its page was given, or with one of another session. */
export const outdatedForm = (): HttpError => new HttpError(403, 'forbidden', outdated)

/** A 403 unless the browser says that a page of ours sends this form. */
export function foreignFormError(
  { headers }: Pick<FastifyRequest, 'headers'>,
  isOwnOrigin: (origin: string) => boolean,
): HttpError | undefined {
  const { origin } = headers
  const site = headers['sec-fetch-site']
  const isOurs = origin !== undefined && isOwnOrigin(origin) && (site === undefined || site === 'same-origin')
  return isOurs ? undefined : new HttpError(403, 'forbidden', foreignForm)
}
