/**
 * What the schemas say of the form of a value, in Arabic, by the English that stands in the schema. Each follows
 * `يجب أن تكون القيمة`. A test compares them with the schemas of all routes.
 */
export const arabicForms: ReadonlyMap<string, string> = new Map([
  ['true/false, 1/0, "1"/"0" or "true"/"false"', 'true/false أو 1/0 أو "1"/"0" أو "true"/"false"'],
  ['1 to 200, default 50', 'من 1 إلى 200، وهي 50 إن لم تُحدَّد'],
  ['1 to 32 of 0-9 A-Z a-z _ -', 'من 1 إلى 32 حرفًا من 0-9 وA-Z وa-z و_ و-'],
  ['64 of 0-9 a-f', '64 حرفًا من 0-9 وa-f'],
  ['up to 200 printable ASCII characters', 'بما لا يزيد على 200 حرف من حروف ASCII القابلة للطباعة'],
  ['16 of 0-9 a-f', '16 حرفًا من 0-9 وa-f'],
  ['32 of 0-9 a-f', '32 حرفًا من 0-9 وa-f'],
  ['lucky, returnable or standard', 'lucky أو returnable أو standard'],
  ['1 to 64 of 0-9 A-Z a-z _ -', 'من 1 إلى 64 حرفًا من 0-9 وA-Z وa-z و_ و-'],
  [
    '1 to 64 of 0-9 A-Z a-z _ -; not the id of another room',
    'من 1 إلى 64 حرفًا من 0-9 وA-Z وa-z و_ و-، وألا تكون رقم id لغرفة أخرى',
  ],
  ['up to 64 of 0-9 A-Z a-z _ -', 'بما لا يزيد على 64 حرفًا من 0-9 وA-Z وa-z و_ و-'],
  [
    'dollars from 0 with at most 2 decimals: a number, or a string such as 12.50',
    'مبلغًا بالدولار من 0 فأكثر وبمنزلتين عشريتين على الأكثر: عددًا، أو نصًا مثل 12.50',
  ],
  [
    'dollars from 1 with at most 2 decimals: a number, or a string such as 12.50',
    'مبلغًا بالدولار من 1 فأكثر وبمنزلتين عشريتين على الأكثر: عددًا، أو نصًا مثل 12.50',
  ],
  [
    'an integer from 1 (coins, diamonds, target), or dollars from 0.01: a number, or a string such as 12.50',
    'عددًا صحيحًا من 1 فأكثر (coins أو diamonds أو target)، أو مبلغًا بالدولار من 0.01 فأكثر: عددًا، أو نصًا مثل 12.50',
  ],
  ['text of 1 to 200 characters, or an integer up to 2^53-1', 'نصًا من 1 إلى 200 حرف، أو عددًا صحيحًا لا يزيد على 2^53-1'],
  ['android, ios or flutter', 'android أو ios أو flutter'],
  ['android or ios', 'android أو ios'],
  ['en or ar', 'en أو ar'],
  [
    'a version: numbers with dots between them, such as 1.10.2, 2.0-rc.1 or 1.4.0+88',
    'رقم إصدار: أعدادًا تفصل بينها نقاط، مثل 1.10.2 أو 2.0-rc.1 أو 1.4.0+88',
  ],
  ['an address that begins with https://', 'عنوانًا يبدأ بـ https://'],
  [
    '1 to 2,048 printable ASCII characters without blanks',
    'من 1 إلى 2,048 حرفًا من حروف ASCII القابلة للطباعة دون فراغات',
  ],
  [
    'a draw of /fairness/lucky/draws, a finished game or its fairness',
    'سحبًا مما تعرضه fairness/lucky/draws، أو لعبة منتهية، أو بيانات fairness الخاصة بها',
  ],
  ['a name, or an object with the names en and ar', 'اسمًا، أو كائنًا فيه الاسمان en وar'],
  ['an id or a name', 'معرّفًا أو اسمًا'],
  ['an id or a uid (1 to 64 characters)', 'معرّف id أو معرّف uid (من 1 إلى 64 حرفًا)'],
  ['a storage path, or null', 'مسار تخزين أو null'],
  ['coins, diamonds, target, dollars or agent_dollars', 'coins أو diamonds أو target أو dollars أو agent_dollars'],
  ['a position: the last one that was seen', 'رقم موضع في السجل، وهو آخر موضع تمت قراءته'],
  ['a position: the last one to verify', 'رقم موضع في السجل، وهو آخر موضع يشمله التحقق'],
  [
    'the id of a user: events by them, of their value or about them',
    'معرّف مستخدم، لعرض ما قام به وما يخصه من أرصدة وما يتعلق به من أحداث',
  ],
  ['the id of a user', 'معرّف مستخدم'],
  ['an account such as user:7:diamonds', 'اسم حساب مثل user:7:diamonds'],
  [
    'a position (34), a day (2026-11-21) or a time in UTC (2026-11-21T08:00:00Z)',
    'رقم موضع (34) أو يومًا (2026-11-21) أو وقتًا بالتوقيت العالمي (2026-11-21T08:00:00Z)',
  ],
  ['hash of the event at that position: 64 hexadecimal digits', 'بصمة الحدث في ذلك الموضع: 64 رقمًا ست عشريًا'],
  [
    'a time as it was answered, such as 2026-11-21T08:00:00.000000Z',
    'وقتًا كما ورد في الرد، مثل 2026-11-21T08:00:00.000000Z',
  ],
  ['a month, such as 2026-11', 'شهرًا مثل 2026-11'],
  ['open, approved, rejected or expired', 'open أو approved أو rejected أو expired'],
])
