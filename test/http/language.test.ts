import { test } from 'tap'
import { createTestApp } from '../harness/app/test-app.ts'

test('errors and messages come in the language of the request', async (t) => {
  const { app, operator, user } = await createTestApp(t)
  await operator('POST', '/admin/v1/users', { users: [{ id: 1 }, { id: 2 }] })
  await operator('PUT', '/admin/v1/rooms/1', { uid: 'R1', owner_id: 1 })
  const gift = { u_id: 1, decoration_id: 9, user_id: [1, 7], quantity: 1, room_id: 1 }
  const send = (query: string, headers: Record<string, string>, body: object = gift) =>
    user(1)('POST', `/v1/instant-send${query}`, body, headers)

  const english = {
    message: 'The given data was invalid.',
    errors: {
      decoration_id: ['There is no such gift.'],
      user_id: ['The sender cannot be a receiver.', 'There is no user 7.'],
    },
  }
  const arabic = {
    message: 'البيانات المُرسلة غير صالحة.',
    errors: {
      decoration_id: ['هذه الهدية غير موجودة.'],
      user_id: ['لا يمكن للمرسل أن يكون من المستلمين.', 'لا يوجد مستخدم بالمعرّف 7.'],
    },
  }
  t.match((await send('', {})).body, english)
  t.match((await send('?lang=ar', {})).body, arabic)
  t.match((await send('', { lang: 'ar', 'accept-language': 'en' })).body, arabic, 'lang wins')
  t.match((await send('', { 'accept-language': 'fr, ar;q=0.8, en;q=0.7' })).body, arabic)
  t.match((await send('?lang=fr', { 'accept-language': 'ar' })).body, english, 'a language that there is not')

  const short = await send('?lang=ar', {}, { ...gift, quantity: 0, user_id: [], decoration_id: 'a' })
  t.match(short, {
    status: 422,
    body: {
      errors: {
        quantity: ['يجب ألا تقل القيمة عن 1.'],
        user_id: ['يجب ألا تقل القائمة عن عنصر واحد.'],
        decoration_id: ['يجب أن تكون القيمة عددًا صحيحًا.'],
      },
    },
  })
  const flag = await send('?lang=ar', {}, { ...gift, is_bag: 'maybe', room_id: undefined })
  t.match(flag.body, { errors: { room_id: ['هذا الحقل مطلوب.'] } })
  t.match(await user(1)('GET', '/v1/nowhere?lang=ar'), { status: 404, body: { message: 'العنصر المطلوب غير موجود.' } })
  const anonymous = await app.inject('/v1/wallet?lang=ar')
  t.match(anonymous.json(), { code: 'unauthenticated', message: 'يلزم إرسال رمز دخول صالح.' })
  t.match(await operator('GET', '/admin/v1/users?lang=ar&cursor=AAAA'), {
    status: 422,
    body: { errors: { cursor: ['هذا المؤشر لا يخص هذه القائمة.'] } },
  })

  await user(1)('POST', '/api/v1/devices', { token: 'one', platform: 'ios' })
  const removed = await user(1)('DELETE', '/api/v1/devices/one?lang=ar', undefined, { 'idempotency-key': 'k' })
  t.match(removed, { status: 200, body: { meta: { message: 'تمت إزالة الجهاز.' } } })
  const again = await user(1)('DELETE', '/api/v1/devices/one?lang=en', undefined, { 'idempotency-key': 'k' })
  t.match(again, { status: 200, headers: { 'idempotency-replayed': 'true' } })
  t.equal(again.text, removed.text, 'a remembered reply stays in the language of its first answer')
})
