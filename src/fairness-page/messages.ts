import type { LocalizedText } from '../../schema/languages.ts'
import type { Messages } from '../language/messages.ts'

/** Sentences of the page. Words in backticks are code, those between two asterisks are strong. */
export const pageMessages = {
  intro: {
    en:
      'Every draw of a lucky gift and every spin of the roulette follows from a secret to which we committed before the ' +
      'draw, and from a seed that players may choose. Afterwards the secret is published, and anyone can repeat the ' +
      'computation. A draw is fair unless the operator colludes with a player or, where the draw was not announced, chose ' +
      'its key or the incarnation of its ledger to suit a seed that it knew.',
    ar:
      'كل سحب لهدية حظ وكل دوران للروليت ناتج عن سر التزمنا به قبل السحب، وعن بذرة يمكن للاعبين اختيارها. ' +
      'بعد ذلك يُنشر السر، ويستطيع أي شخص إعادة الحساب. السحب عادل ما لم يتواطأ المشغّل مع أحد اللاعبين أو، ' +
      'إن لم يكن السحب معلنًا، ما لم يختر مفتاحه أو معرّف دفتره بما يناسب بذرة يعرفها.',
  },
  private: {
    en: 'Your browser computes everything itself. What you paste is not sent; only the odds table that a draw names is fetched.',
    ar: 'متصفحك يحسب كل شيء بنفسه. لا يُرسل ما تلصقه؛ ولا يُجلب إلا جدول الاحتمالات الذي يذكره السحب.',
  },
  without_scripts: {
    en:
      'Checking on this page needs scripts, and they are off. Without them, send what you would paste as the body of ' +
      '`POST /api/v1/fairness/verify`, which answers each step with its values; or compute the steps below by hand.',
    ar:
      'التحقق في هذه الصفحة يحتاج إلى البرامج النصية، وهي متوقفة. بدونها أرسل ما كنت ستلصقه إلى ' +
      '`POST /api/v1/fairness/verify` الذي يجيب بكل خطوة مع قيمها، أو احسب الخطوات أدناه بنفسك.',
  },
  kept_hint: {
    en:
      'The `commitment` that `GET /api/v1/fairness/lucky` answered, or its whole answer. A game shows its own: compare it ' +
      'with the one that you saw before the spin.',
    ar:
      'قيمة `commitment` التي أجاب بها `GET /api/v1/fairness/lucky`، أو إجابته كاملة. أما اللعبة فتعرض التزامها: قارنه ' +
      'بالذي رأيته قبل الدوران.',
  },
  unproven: {
    en:
      '`order_id` and `created_at` are no part of the proof: only the ledger knows them, and `POST /api/v1/fairness/verify` ' +
      'compares the order ids with it.',
    ar:
      '`order_id` و`created_at` ليسا جزءًا من الإثبات: لا يعرفهما إلا دفتر الأستاذ، و`POST /api/v1/fairness/verify` ' +
      'يقارن معرّفات الطلبات به.',
  },
  no_odds: { en: 'No gift is drawn at present.', ar: 'لا توجد حاليًا هدايا يُجرى عليها سحب.' },
} satisfies Messages

/** Headings, labels and what stands before a value. */
export const pageLabels = {
  title: { en: 'Fair draws', ar: 'سحوبات عادلة' },
  check: { en: 'Check your draws', ar: 'تحقق من سحوباتك' },
  pasted: {
    en: 'What `GET /api/v1/fairness/lucky/draws` answers, one draw of it, or a finished game',
    ar: 'ما يجيب به `GET /api/v1/fairness/lucky/draws`، أو سحب واحد منه، أو لعبة منتهية',
  },
  kept: {
    en: 'Commitments that you noted before the draws (optional)',
    ar: 'الالتزامات التي سجّلتها قبل السحوبات (اختياري)',
  },
  verify: { en: 'Check', ar: 'تحقق' },
  odds: { en: 'Odds in force', ar: 'الاحتمالات السارية' },
  return_to_player: {
    en: 'Return to player, in the long run:',
    ar: 'العائد إلى اللاعب على المدى الطويل:',
  },
  odds_hash: { en: 'Hash of this table:', ar: 'تجزئة هذا الجدول:' },
  reward: { en: 'Reward, times the stake', ar: 'المكافأة، مضروبة في الرهان' },
  weight: { en: 'Weight', ar: 'الوزن' },
  chance: { en: 'Chance', ar: 'الاحتمال' },
  lucky: { en: 'How a lucky gift is drawn (LG1)', ar: 'كيف يُسحب على هدية الحظ (LG1)' },
  roulette: { en: 'How the roulette is spun (RR1)', ar: 'كيف تدور الروليت (RR1)' },
  uniform: { en: 'How a hash becomes a number', ar: 'كيف تصبح التجزئة رقمًا' },
  exact: { en: 'Exact description, examples and a program', ar: 'الوصف الدقيق مع أمثلة وبرنامج (بالإنجليزية)' },
} satisfies Messages

/** The steps of each algorithm, in plain words. */
export const algorithmTexts = {
  lucky: [
    {
      en:
        '**Before.** For each player we make a chain of 256 secrets, each the SHA-256 of the one that is used after it. ' +
        'The hash of the first one is the chain’s **commitment**. We show it before the first draw, and that of the next ' +
        'chain, too. It is **not announced** where you send a gift before you looked at your chain for the first time, or ' +
        'for the first time after our ledger lost entries and began a new **incarnation**, in which every chain is a new one.',
      ar:
        '**قبل السحب.** نصنع لكل لاعب سلسلة من 256 سرًا، كل منها تجزئة SHA-256 للسر الذي يُستخدم بعده. تجزئة السر الأول ' +
        'هي **التزام** السلسلة. نعرضه قبل أول سحب، ومعه التزام السلسلة التالية. ويبقى **غير معلن** إذا أرسلت ' +
        'هدية قبل أن تطّلع على سلسلتك أول مرة، أو أول مرة بعد أن فقد دفترنا قيودًا وأخذ معرّفًا جديدًا تُصنع معه كل السلاسل ' +
        'من جديد.',
    },
    {
      en:
        '**Your seed.** It is your id until you choose one. Choosing one starts the next chain, whose commitment you have ' +
        'already seen: neither of us can choose after seeing the other’s choice.',
      ar:
        '**بذرتك.** هي معرّفك إلى أن تختار غيرها. اختيارها يبدأ السلسلة التالية التي رأيت التزامها من قبل: فلا يستطيع أي ' +
        'منا أن يختار بعد أن يرى اختيار الآخر.',
    },
    {
      en:
        '**The draw.** Send number k uses secret number k of the chain, its **link**. Link and the text ' +
        '`lg1|chain|seed|k|order` give a number r from 0 to the sum of the weights less 1; orders count from 0.',
      ar:
        '**السحب.** الإرسال رقم k يستخدم السر رقم k من السلسلة، وهو **الحلقة**. الحلقة مع النص ' +
        '`lg1|chain|seed|k|order` تعطي رقمًا r من 0 إلى مجموع الأوزان ناقص 1؛ وتُعد الطلبات من 0.',
    },
    {
      en:
        '**The reward.** Add up the weights of the odds from the first row on: the first row at which the sum exceeds r ' +
        'wins. The reward is the stake times the row’s multiplier, rounded down; the stake is price times quantity.',
      ar:
        '**المكافأة.** اجمع أوزان الاحتمالات بدءًا من الصف الأول: يفوز أول صف يتجاوز عنده المجموع الرقم r. المكافأة هي ' +
        'الرهان مضروبًا في مضاعف الصف، مقرّبة إلى الأسفل؛ والرهان هو السعر مضروبًا في الكمية.',
    },
    {
      en:
        '**To check.** Hash the link k times with SHA-256: that is the commitment. Hash the JSON of gift id and odds: that ' +
        'is `odds_hash`. Then compute r and the reward of each order.',
      ar:
        '**للتحقق.** جزّئ الحلقة k مرة بـ SHA-256: الناتج هو الالتزام. جزّئ JSON لمعرّف الهدية والاحتمالات: الناتج هو ' +
        '`odds_hash`. ثم احسب r والمكافأة لكل طلب.',
    },
  ],
  roulette: [
    {
      en:
        '**Before.** When a game is created we fix a secret **server seed** and show its **commitment**: the SHA-256 of ' +
        '`rr1|commit|game|` and the seed’s 32 bytes. Players who join may add a seed.',
      ar:
        '**قبل الدوران.** عند إنشاء اللعبة نثبّت **بذرة خادم** سرية ونعرض **التزامها**: تجزئة SHA-256 للنص ' +
        '`rr1|commit|game|` وبايتات البذرة وعددها 32. ومن ينضم يمكنه إضافة بذرة.',
    },
    {
      en:
        '**The entries.** Those who have joined and not left, in the order of joining, one line each: ' +
        '`number|entry|user|stake|seed`. The SHA-256 of all lines is `entries_hash`.',
      ar:
        '**المشاركات.** من انضموا ولم يغادروا، بترتيب انضمامهم، سطر لكل منهم: `number|entry|user|stake|seed`. تجزئة ' +
        'SHA-256 لجميع الأسطر هي `entries_hash`.',
    },
    {
      en:
        '**The spin.** Server seed and the text `rr1|game|entries_hash|-` give a number from 0 to the number of entries ' +
        'less 1: that entry wins.',
      ar:
        '**الدوران.** بذرة الخادم مع النص `rr1|game|entries_hash|-` تعطي رقمًا من 0 إلى عدد المشاركات ناقص 1: وتلك ' +
        'المشاركة هي الفائزة.',
    },
    {
      en: '**To check.** Compute commitment, `entries_hash` and number, and compare them with what the game shows.',
      ar: '**للتحقق.** احسب الالتزام و`entries_hash` والرقم، وقارنها بما تعرضه اللعبة.',
    },
  ],
  uniform: [
    {
      en:
        'HMAC-SHA256, with the secret as its key, of the text followed by `|0`, then `|1` and so on, gives four numbers of ' +
        '64 bits each. One that is not below the largest multiple of W that 64 bits hold is skipped, so that no result is ' +
        'likelier than another. The first one that is left, modulo W, is the number; W is how many numbers there are.',
      ar:
        'تعطي HMAC-SHA256، والسر مفتاحها، للنص متبوعًا بـ `|0` ثم `|1` وهكذا، أربعة أعداد كل منها من 64 بت. يُتخطى العدد ' +
        'الذي لا يقل عن أكبر مضاعف لـ W يتسع له 64 بت، حتى لا تكون نتيجة أرجح من غيرها. أول عدد يبقى، بباقي قسمته على W، ' +
        'هو الرقم؛ وW هو عدد الأرقام الممكنة.',
    },
  ],
} satisfies Readonly<Record<string, readonly LocalizedText[]>>
