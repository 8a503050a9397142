import type { Messages } from '../language/messages.ts'

/** What clients read about websockets and their channels. */
export const socketMessages = {
  token_in_url: {
    en: 'Send the token in the Authorization header or in an auth frame.',
    ar: 'أرسل رمز الدخول في الترويسة Authorization أو في إطار auth، وليس في العنوان.',
  },
  origin_not_allowed: {
    en: 'Pages of this origin may not open websockets.',
    ar: 'لا يُسمح لصفحات هذا الموقع بفتح اتصال WebSocket.',
  },
  bad_handshake: {
    en:
      'Expected Sec-WebSocket-Version 13, a valid Sec-WebSocket-Key and, if it is sent, a Sec-WebSocket-Protocol of ' +
      'different names.',
    ar:
      'يجب أن تكون قيمة Sec-WebSocket-Version هي 13 وأن تكون قيمة Sec-WebSocket-Key صالحة، وأن يحتوي ' +
      'Sec-WebSocket-Protocol إن أُرسل على أسماء مختلفة.',
  },
  not_a_websocket: {
    en: 'Expected a WebSocket upgrade request, sent after the response to the request before it.',
    ar: 'يجب أن يكون الطلب طلب ترقية إلى WebSocket، وأن يُرسل بعد وصول الرد على الطلب السابق.',
  },
  unknown_channel: {
    en: 'Expected one-to-room:{room_uid}, user:{id} or global.',
    ar: 'يجب أن تكون القناة one-to-room:{room_uid} أو user:{id} أو global.',
  },
  forbidden: { en: 'This is the channel of another user.', ar: 'هذه قناة مستخدم آخر.' },
  not_room_member: {
    en: 'Only members of the room may subscribe to it.',
    ar: 'لا يمكن الاشتراك في الغرفة إلا لأعضائها.',
  },
  too_many_rooms: (limit: number) => ({
    en: `A socket may be subscribed to ${limit} rooms at most.`,
    ar: `الحد الأقصى لعدد الغرف في الاتصال الواحد هو ${limit}.`,
  }),
  unavailable: { en: 'Not available now. Try again later.', ar: 'غير متاح الآن. يُرجى المحاولة لاحقًا.' },
  bad_frame: {
    en: 'Expected a JSON object that is one of the client frames of /docs/asyncapi.json.',
    ar: 'يجب أن يكون الإطار كائن JSON من إطارات العميل الموصوفة في ‎/docs/asyncapi.json.',
  },
} satisfies Messages
