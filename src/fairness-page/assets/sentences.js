// What the page says of a check, in both languages.

/**
 * @typedef {{ readonly fault: 'empty' | 'tooLong' | 'notJson' | 'inexact' | 'nothing' | 'noCommitment' | 'notFinished'
 *     | 'noCrypto' | 'oddsUnknown' | 'oddsUnreachable' | 'failed' }
 *   | { readonly fault: 'tooMany', readonly most: number }
 *   | { readonly fault: 'longList', readonly place: string, readonly most: number }
 *   | { readonly fault: 'neither', readonly place: string }
 *   | { readonly fault: 'expected', readonly expected: Expected, readonly place: string }
 * } Fault why something could not be checked; `place` is the path of a field
 */

/** @typedef {'object' | 'list' | 'whole' | 'hash' | 'incarnation' | 'flag' | 'name' | 'k' | 'multiplier'} Expected */

/**
 * @typedef {object} Step
 * @property {keyof typeof english.steps} step
 * @property {number} [number] of the order, from 0
 * @property {'right' | 'wrong' | 'unchecked'} outcome
 * @property {keyof typeof english.reasons} reason
 * @property {Readonly<Record<string, string | number | bigint>>} values
 */

const english = {
  /** @type {(checked: number) => string} */
  valid: (checked) => `Valid: every step agrees (draws checked: ${checked}).`,
  validInPart:
    'Valid as far as it could be checked: no step disagrees, but those marked "not checked" lack something that only you can add.',
  validUncommitted:
    'Valid as far as it could be checked: the numbers follow from the links that were pasted. Whether these links were fixed before the draws was not checked, and made-up ones would agree, too: enter the commitments that you noted.',
  /** @type {(why: string) => string} */
  notValid: (why) => `Not valid: ${why}`,
  /** @type {(why: string) => string} */
  unchecked: (why) => `Could not be checked: ${why}`,
  /** @type {(item: string, step: string, why: string) => string} */
  wrongStep: (item, step, why) => `${item}, ${step}: ${why}`,
  /** @type {(chain: string, k: number) => string} */
  draw: (chain, k) => `Lucky gift, chain ${chain}, send ${k}`,
  /** @type {(gameUid: string) => string} */
  spin: (gameUid) => `Roulette, game ${gameUid}`,
  outcomes: { right: 'right', wrong: 'wrong', unchecked: 'not checked' },
  steps: {
    link: 'link',
    commitment: 'commitment',
    announcement: 'announcement',
    odds: 'odds table',
    number: 'number',
    reward: 'reward',
    seed: 'commitment',
    entries: 'entries',
    winner: 'winner',
    game: 'game',
  },
  /** @type {(step: string, number: number) => string} */
  ofOrder: (step, number) => `${step} of order ${number}`,
  reasons: {
    linkAlone:
      'this hash must be the link of the send before it, which was not pasted: there is nothing to compare the link with.',
    linkCommitted: 'hashing the link, and each hash again, leads to the commitment.',
    firstLinkAlone:
      'this is the first send of the chain, so that this hash must be the commitment: there is nothing to compare it with.',
    firstLinkCommitted: 'this is the first send of the chain, and hashing its link once gives the commitment.',
    linkOfTwo: 'two different links were pasted for this send of the chain, and a send has only one.',
    linkLeads: 'hashing the link leads to that of an earlier send of the chain.',
    linkDoesNotLead: 'hashing the link does not lead to that of an earlier send of the chain.',
    commitmentReached: 'hashing the link as often as the number of the send gives the commitment.',
    commitmentPasted:
      'hashing the link as often as the number of the send gives the commitment that was pasted with it. Compare it with the one that was shown before the draw.',
    commitmentNotReached: 'hashing the link as often as the number of the send does not give the commitment.',
    commitmentNotShown:
      'compare this hash with the commitment that was shown after the draw: none was shown before it.',
    commitmentMissing: 'compare this hash with the commitment that was shown before the draw, or enter that above.',
    announced: 'the commitment was on the ledger before the send, so that it could not be chosen to suit it.',
    notAnnounced:
      'the chain began with this send, so that its commitment was not on the ledger before: the draw is fair unless the operator chose its key or the incarnation to suit a seed that it knew. GET /api/v1/fairness/lucky before the first gift announces the chain.',
    oddsHaveHash: 'the published odds table has the hash that the draw names.',
    oddsHaveAnotherHash: 'the odds table does not have the hash that the draw names.',
    oddsUnknown: 'no odds table with this hash was published.',
    oddsUnreachable: 'the odds table could not be fetched, so the numbers cannot be checked. Try again later.',
    numberFollows: 'the number follows from link, seed and odds.',
    numberDiffers: 'another number follows from link, seed and odds.',
    rewardFollows: 'the reward follows from number, odds and stake.',
    rewardDiffers: 'another reward follows from number, odds and stake.',
    rewardWithoutStake: 'what was pasted does not say the stake.',
    seedHasCommitment: 'the seed has the commitment. Compare it with the one that was shown before the spin.',
    seedHasAnotherCommitment: 'the seed does not have the commitment.',
    entriesHaveHash: 'the lines of all who played have the hash.',
    entriesHaveAnotherHash: 'the lines of all who played do not have the hash.',
    spinFollows: 'the number of the winning entry follows from seed and entries.',
    spinDiffers: 'another winning entry follows from seed and entries.',
    winnerFollows: 'the winner is who had that entry.',
    winnerDiffers: 'the winner is not who had that entry.',
    winnerMissing: 'what was pasted does not say who won.',
    gameAgrees: 'the game agrees with the entries of its spin.',
    gameDiffers: 'the game does not agree with the entries of its spin.',
  },
  faults: {
    empty: 'nothing was pasted. Paste your draws or a finished game.',
    tooLong: 'this is too long. Paste one page of draws at a time.',
    notJson: 'this is not JSON. Paste the whole response, from the first brace to the last one.',
    inexact: 'this browser cannot read a number of it exactly. Use a newer browser.',
    nothing: 'there is no draw in it.',
    noCommitment: 'there is no commitment in the second field. A commitment is 64 of 0-9 a-f.',
    notFinished: 'this game is not finished. Its seed is published with the spin.',
    noCrypto: 'this browser computes hashes only on pages with an address that begins with https.',
    oddsUnknown: 'no odds table with this hash was published.',
    oddsUnreachable:
      'the odds table could not be fetched, so that the numbers were not computed. This says nothing against the draw. See whether you are online, and check again.',
    failed: 'something failed in this browser. Load this page again, or use another browser.',
  },
  /** @type {(most: number) => string} */
  tooMany: (most) => `there are more than ${most} draws. Paste one page at a time.`,
  /** @type {(place: string, most: number) => string} */
  longList: (place, most) => `${place} has more than ${most} items.`,
  /** @type {(place: string) => string} */
  neither: (place) =>
    `${place === '' ? 'this' : `item ${place}`} is neither a draw of a lucky gift nor a game with its fairness.`,
  /** @type {(place: string, expected: string) => string} */
  expected: (place, expected) => `${place === '' ? 'this' : place} is missing or wrong. Expected ${expected}.`,
  forms: {
    object: 'an object',
    list: 'a list that is not empty',
    whole: 'a whole number from 0 on',
    hash: '64 of 0-9 a-f',
    incarnation: '32 of 0-9 a-f',
    flag: 'true or false',
    name: '1 to 64 of 0-9 A-Z a-z _ -',
    k: 'a number from 1 to 1024',
    multiplier: 'a number from 0 to 10000 with at most 4 decimals',
  },
}

/** @param {string | number} text Latin letters within an Arabic sentence, isolated */
const isolated = (text) => `\u2068${text}\u2069`

/** @type {typeof english} */
const arabic = {
  valid: (checked) => `صحيح: جميع الخطوات متطابقة (عدد السحوبات التي تم التحقق منها: ${checked}).`,
  validInPart:
    'صحيح بقدر ما أمكن التحقق منه: لا توجد خطوة مخالفة، لكن الخطوات التي كُتب عندها «لم يتم التحقق» ينقصها شيء لا يستطيع إضافته غيرك.',
  validUncommitted:
    'صحيح بقدر ما أمكن التحقق منه: الأرقام ناتجة عن الحلقات الملصقة. لم يتم التحقق من أن هذه الحلقات حُددت قبل السحوبات، وقد تتطابق حلقات مختلقة أيضًا: أدخل الالتزامات التي سجّلتها.',
  notValid: (why) => `غير صحيح: ${why}`,
  unchecked: (why) => `تعذّر التحقق: ${why}`,
  wrongStep: (item, step, why) => `${item}، ${step}: ${why}`,
  draw: (chain, k) => `هدية الحظ، السلسلة ${isolated(chain)}، الإرسال ${isolated(k)}`,
  spin: (gameUid) => `الروليت، اللعبة ${isolated(gameUid)}`,
  outcomes: { right: 'صحيح', wrong: 'خطأ', unchecked: 'لم يتم التحقق' },
  steps: {
    link: 'الحلقة',
    commitment: 'الالتزام',
    announcement: 'الإعلان',
    odds: 'جدول الاحتمالات',
    number: 'الرقم',
    reward: 'المكافأة',
    seed: 'الالتزام',
    entries: 'المشاركات',
    winner: 'الفائز',
    game: 'اللعبة',
  },
  ofOrder: (step, number) => `${step} للطلب ${isolated(number)}`,
  reasons: {
    linkAlone: 'يجب أن تكون هذه التجزئة حلقة الإرسال السابق، ولم يتم لصقه: لا يوجد ما تُقارن به الحلقة.',
    linkCommitted: 'تكرار تجزئة الحلقة يؤدي إلى الالتزام.',
    firstLinkAlone: 'هذا أول إرسال في السلسلة، فيجب أن تكون هذه التجزئة هي الالتزام: لا يوجد ما تُقارن به.',
    firstLinkCommitted: 'هذا أول إرسال في السلسلة، وتجزئة حلقته مرة واحدة تعطي الالتزام.',
    linkOfTwo: 'تم لصق حلقتين مختلفتين لهذا الإرسال من السلسلة، وليس للإرسال إلا حلقة واحدة.',
    linkLeads: 'تجزئة الحلقة تؤدي إلى حلقة إرسال سابق من السلسلة نفسها.',
    linkDoesNotLead: 'تجزئة الحلقة لا تؤدي إلى حلقة إرسال سابق من السلسلة نفسها.',
    commitmentReached: 'تجزئة الحلقة بعدد مرات يساوي رقم الإرسال تعطي الالتزام.',
    commitmentPasted:
      'تجزئة الحلقة بعدد مرات يساوي رقم الإرسال تعطي الالتزام الملصق معها. قارنه بالالتزام الذي عُرض قبل السحب.',
    commitmentNotReached: 'تجزئة الحلقة بعدد مرات يساوي رقم الإرسال لا تعطي الالتزام.',
    commitmentNotShown: 'قارن هذه التجزئة بالالتزام الذي عُرض بعد السحب: لم يُعرض أي التزام قبله.',
    commitmentMissing: 'قارن هذه التجزئة بالالتزام الذي عُرض قبل السحب، أو أدخله في الأعلى.',
    announced: 'كان الالتزام مسجّلًا في دفتر الأستاذ قبل الإرسال، فلم يكن ممكنًا اختياره بما يناسبه.',
    notAnnounced: `بدأت السلسلة بهذا الإرسال، فلم يكن التزامها مسجّلًا في دفتر الأستاذ قبله: السحب عادل ما لم يكن المشغّل قد اختار مفتاحه أو معرّف الدفتر بما يناسب بذرة يعرفها. استدعاء ${isolated('GET /api/v1/fairness/lucky')} قبل أول هدية يعلن السلسلة.`,
    oddsHaveHash: 'جدول الاحتمالات المنشور له التجزئة التي يذكرها السحب.',
    oddsHaveAnotherHash: 'جدول الاحتمالات ليست له التجزئة التي يذكرها السحب.',
    oddsUnknown: 'لم يُنشر جدول احتمالات بهذه التجزئة.',
    oddsUnreachable: 'تعذّر جلب جدول الاحتمالات، فلا يمكن التحقق من الأرقام. حاول مرة أخرى لاحقًا.',
    numberFollows: 'الرقم ناتج عن الحلقة والبذرة والاحتمالات.',
    numberDiffers: 'ينتج عن الحلقة والبذرة والاحتمالات رقم آخر.',
    rewardFollows: 'المكافأة ناتجة عن الرقم والاحتمالات والرهان.',
    rewardDiffers: 'تنتج عن الرقم والاحتمالات والرهان مكافأة أخرى.',
    rewardWithoutStake: 'ما تم لصقه لا يذكر الرهان.',
    seedHasCommitment: 'البذرة لها هذا الالتزام. قارنه بالالتزام الذي عُرض قبل الدوران.',
    seedHasAnotherCommitment: 'البذرة ليس لها هذا الالتزام.',
    entriesHaveHash: 'أسطر جميع اللاعبين لها هذه التجزئة.',
    entriesHaveAnotherHash: 'أسطر جميع اللاعبين ليست لها هذه التجزئة.',
    spinFollows: 'رقم المشاركة الفائزة ناتج عن البذرة والمشاركات.',
    spinDiffers: 'تنتج عن البذرة والمشاركات مشاركة فائزة أخرى.',
    winnerFollows: 'الفائز هو صاحب تلك المشاركة.',
    winnerDiffers: 'الفائز ليس صاحب تلك المشاركة.',
    winnerMissing: 'ما تم لصقه لا يذكر الفائز.',
    gameAgrees: 'اللعبة متوافقة مع مشاركات دورانها.',
    gameDiffers: 'اللعبة غير متوافقة مع مشاركات دورانها.',
  },
  faults: {
    empty: 'لم يتم لصق أي شيء. الصق سحوباتك أو لعبة منتهية.',
    tooLong: 'النص طويل جدًا. الصق صفحة واحدة من السحوبات في كل مرة.',
    notJson: `النص ليس بصيغة ${isolated('JSON')}. الصق الاستجابة كاملة، من أول قوس إلى آخر قوس.`,
    inexact: 'لا يستطيع هذا المتصفح قراءة أحد الأرقام بدقة. استخدم متصفحًا أحدث.',
    nothing: 'لا يوجد فيه أي سحب.',
    noCommitment: `لا يوجد التزام في الحقل الثاني. الالتزام مكوّن من 64 من ${isolated('0-9 a-f')}.`,
    notFinished: 'هذه اللعبة لم تنتهِ بعد. تُنشر بذرتها مع الدوران.',
    noCrypto: `لا يحسب هذا المتصفح التجزئة إلا في صفحات يبدأ عنوانها بـ ${isolated('https')}.`,
    oddsUnknown: 'لم يُنشر جدول احتمالات بهذه التجزئة.',
    oddsUnreachable:
      'تعذّر جلب جدول الاحتمالات، فلم تُحسب الأرقام. هذا لا يعني أن السحب غير صحيح. تأكد من اتصالك بالإنترنت ثم تحقق مرة أخرى.',
    failed: 'حدث خطأ في هذا المتصفح. أعد تحميل هذه الصفحة أو استخدم متصفحًا آخر.',
  },
  tooMany: (most) => `عدد السحوبات أكثر من ${most}. الصق صفحة واحدة في كل مرة.`,
  longList: (place, most) => `يحتوي ${isolated(place)} على أكثر من ${most} عنصر.`,
  neither: (place) =>
    `${place === '' ? 'النص' : `العنصر ${isolated(place)}`} ليس سحبًا لهدية حظ ولا لعبة مع إثبات نزاهتها.`,
  expected: (place, expected) => `${place === '' ? 'النص' : isolated(place)} ناقص أو خاطئ. المتوقع: ${expected}.`,
  forms: {
    object: 'كائن',
    list: 'قائمة غير فارغة',
    whole: 'عدد صحيح لا يقل عن 0',
    hash: `64 من ${isolated('0-9 a-f')}`,
    incarnation: `32 من ${isolated('0-9 a-f')}`,
    flag: `${isolated('true')} أو ${isolated('false')}`,
    name: `من 1 إلى 64 من ${isolated('0-9 A-Z a-z _ -')}`,
    k: 'عدد من 1 إلى 1024',
    multiplier: 'عدد من 0 إلى 10000 بأربع منازل عشرية على الأكثر',
  },
}

/** By the language of the page. */
export const sentences = { en: english, ar: arabic }

/**
 * @param {typeof english} words
 * @param {Fault} fault
 * @returns {string}
 */
function faultSentence(words, fault) {
  switch (fault.fault) {
    case 'tooMany':
      return words.tooMany(fault.most)
    case 'longList':
      return words.longList(fault.place, fault.most)
    case 'neither':
      return words.neither(fault.place)
    case 'expected':
      return words.expected(fault.place, words.forms[fault.expected])
    default:
      return words.faults[fault.fault]
  }
}

/**
 * @param {typeof english} words
 * @param {Step} step
 */
export const stepName = (words, { step, number }) =>
  number === undefined ? words.steps[step] : words.ofOrder(words.steps[step], number)

/**
 * @param {typeof english} words
 * @param {import('./verify.js').Checked['item']} item
 */
export const itemName = (words, item) =>
  item.kind === 'lucky' ? words.draw(item.chain, item.k) : words.spin(item.gameUid)

/**
 * The verdict in a sentence; in English it begins with Valid or Not valid, where there is one.
 * @param {typeof english} words
 * @param {import('./verify.js').Verdict} verdict
 */
export function verdictSentence(words, { verdict, fault, isComplete, checked }) {
  if (fault !== null) {
    const why = faultSentence(words, fault)
    return verdict === 'unchecked' ? words.unchecked(why) : words.notValid(why)
  }
  if (verdict === 'valid') {
    const steps = checked.flatMap((one) => one.steps)
    // The rest is worth little without it.
    if (steps.some(({ step, outcome }) => step === 'commitment' && outcome === 'unchecked'))
      return words.validUncommitted
    return isComplete ? words.valid(checked.length) : words.validInPart
  }
  const wrong = checked.flatMap(({ item, steps }) =>
    steps
      .filter(({ outcome }) => outcome === 'wrong')
      .map((step) => words.wrongStep(itemName(words, item), stepName(words, step), words.reasons[step.reason])),
  )
  return words.notValid(wrong[0] ?? '')
}
