import type { Messages } from '../language/messages.ts'

/** What is said of requests before any rule of the business sees them. */
export const httpMessages = {
  unauthenticated: { en: 'Expected a valid bearer token.', ar: 'يلزم إرسال رمز دخول صالح.' },
  unknown_user: {
    en: 'The user of this token does not exist.',
    ar: 'المستخدم الذي صدر له رمز الدخول هذا غير موجود.',
  },
  session_expired: {
    en: 'The session has expired. Log in again.',
    ar: 'انتهت صلاحية الجلسة. يُرجى تسجيل الدخول من جديد.',
  },
  forbidden: { en: 'This token does not allow this request.', ar: 'رمز الدخول هذا لا يسمح بهذا الطلب.' },
  not_found: { en: 'Not found.', ar: 'العنصر المطلوب غير موجود.' },
  invalid_json: { en: 'The body is not valid JSON.', ar: 'محتوى الطلب ليس بصيغة JSON صحيحة.' },
  not_utf8: { en: 'The body is not UTF-8.', ar: 'محتوى الطلب غير مرمّز بترميز UTF-8.' },
  body_too_large: { en: 'The body is too large.', ar: 'حجم محتوى الطلب أكبر من المسموح به.' },
  not_json: { en: 'The body must be JSON.', ar: 'يجب أن يكون محتوى الطلب بصيغة JSON.' },
  unsupported_media_type: {
    en: 'The body must be JSON in UTF-8 (Content-Type: application/json).',
    ar: 'يجب أن يكون محتوى الطلب بصيغة JSON وبترميز UTF-8، مع الترويسة Content-Type: application/json.',
  },
  validation_failed: { en: 'The given data was invalid.', ar: 'البيانات المُرسلة غير صالحة.' },
  malformed_request: { en: 'Malformed request.', ar: 'صيغة الطلب غير صحيحة.' },
  malformed_http: { en: 'Malformed HTTP request.', ar: 'الطلب لا يتوافق مع بروتوكول HTTP.' },
  headers_too_large: { en: 'The headers are too large.', ar: 'حجم ترويسات الطلب أكبر من المسموح به.' },
  request_timeout: {
    en: 'The request took too long to arrive.',
    ar: 'استغرق وصول الطلب وقتًا أطول من المسموح به.',
  },
  connect: {
    en: 'CONNECT is not supported: this is not a proxy.',
    ar: 'الطريقة CONNECT غير مدعومة، فهذا الخادم ليس وسيطًا.',
  },
  one_host: { en: 'Expected exactly one Host header.', ar: 'يجب أن يحتوي الطلب على ترويسة Host واحدة فقط.' },
  transfer_coding: {
    en: 'Unsupported transfer coding. Expected chunked.',
    ar: 'ترميز النقل غير مدعوم، والمدعوم هو chunked فقط.',
  },
  expectation_failed: {
    en: 'Unsupported expectation. Expected 100-continue.',
    ar: 'قيمة الترويسة Expect غير مدعومة، والمدعوم هو 100-continue فقط.',
  },
  unavailable: {
    en: 'The service is temporarily unavailable. Try again.',
    ar: 'الخدمة غير متاحة مؤقتًا. يُرجى المحاولة مرة أخرى.',
  },
  not_ready: {
    en: 'The database does not answer or does not commit, or this instance does not keep up with the ledger.',
    ar: 'قاعدة البيانات لا تستجيب أو لا تثبّت التغييرات، أو أن هذه النسخة متأخرة عن السجل.',
  },
  stopping: { en: 'The service is stopping; try again.', ar: 'يجري إيقاف الخدمة. يُرجى المحاولة مرة أخرى.' },
  disconnected: { en: 'The client disconnected.', ar: 'قطع العميل الاتصال.' },
  internal: { en: 'Internal server error.', ar: 'حدث خطأ داخلي في الخادم.' },
  overloaded: {
    en: 'The server is overloaded. Retry after the time in Retry-After.',
    ar: 'الخادم تحت ضغط كبير حاليًا. يُرجى إعادة المحاولة بعد المدة المذكورة في Retry-After.',
  },
  rate_limited: {
    en: 'Too many requests. Retry after the time in Retry-After.',
    ar: 'عدد الطلبات أكبر من المسموح به. يُرجى إعادة المحاولة بعد المدة المذكورة في Retry-After.',
  },
  invalid_cursor: { en: 'The value is not a cursor of this list.', ar: 'هذا المؤشر لا يخص هذه القائمة.' },
  invalid_key: {
    en: 'The key must be 1 to 255 printable ASCII characters.',
    ar: 'يجب أن يتكون من 1 إلى 255 حرفًا من حروف ASCII القابلة للطباعة.',
  },
  invalid_match: {
    en: 'The value must be one ETag, as the GET of the same path answers it.',
    ar: 'يجب أن تكون قيمة ETag واحدة كما ترد في رد GET على المسار نفسه.',
  },
  invalid_none_match: {
    en: 'The value must be *, without If-Match.',
    ar: 'يجب أن تكون * دون If-Match.',
  },
  implausible_shape: {
    en: 'The body must not be nested so deeply, or have so many objects, lists, texts or different field names.',
    ar: 'يجب ألا يكون المحتوى بهذا القدر من التداخل، أو بهذا العدد من الكائنات أو القوائم أو النصوص أو أسماء الحقول المختلفة.',
  },
} satisfies Messages
