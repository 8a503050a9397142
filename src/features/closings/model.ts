import type { TablesOf } from '../../db/tables.ts'
import { rowTable } from '../../ledger/storage/row-table.ts'
import { type Model, refusalsWith } from '../model.ts'
import { closings, evolveClosings, lastClosings } from './closing.ts'
import { acknowledgements, evolveAcknowledgements } from './finding.ts'
import { evolveSeals, seals } from './seal.ts'

const tables = [
  rowTable(closings, { key: ['month'] }),
  rowTable(lastClosings, { key: ['ledger'] }),
  rowTable(acknowledgements, { key: ['finding'] }),
  rowTable(seals, { key: ['position'] }),
]

declare module '../../db/tables.ts' {
  interface Tables extends TablesOf<typeof tables> {}
}

/** Closed months, and what can be wrong with closing one. */
export const closingsModel: Model = {
  evolvers: [evolveClosings, evolveAcknowledgements, evolveSeals],
  tables,
  refusals: {
    ...refusalsWith(422, {
      verification_running: {
        en: 'A verification is running. Wait for its end, or stop it.',
        ar: 'توجد عملية تحقّق قيد التنفيذ. انتظر انتهاءها أو أوقفها.',
      },
      month_closed: { en: 'This month is closed already.', ar: 'سبق إقفال هذا الشهر.' },
      month_not_over: { en: 'This month is not over.', ar: 'لم ينتهِ هذا الشهر بعد.' },
      month_out_of_order: {
        en: 'Months are closed in order: close the month after the last closed one.',
        ar: 'تُقفل الشهور بالترتيب: أقفل الشهر الذي يلي آخر شهر مقفل.',
      },
      month_before_ledger: {
        en: 'The ledger began after this month.',
        ar: 'بدأ السجل بعد هذا الشهر.',
      },
      steps_running: {
        en: 'A step of a closing is running, or a closing is being recorded. Wait for its end, or stop it.',
        ar: 'توجد خطوة إقفال قيد التنفيذ، أو يجري تسجيل إقفال. انتظر انتهاءها أو أوقفها.',
      },
      closing_step_failed: {
        en: 'A step of the closing failed. Correct what it found and run it again, or have it acknowledged.',
        ar: 'فشلت إحدى خطوات الإقفال. عالج ما وجدته ثم أعد تنفيذها، أو اطلب الإقرار به.',
      },
      closing_incomplete: {
        en: 'Not all steps of the closing are done.',
        ar: 'لم تكتمل جميع خطوات الإقفال.',
      },
      closing_outdated: {
        en: 'The files of the closing were changed, or the books of the month are no longer those that they were made of. Run the steps again.',
        ar: 'تغيّرت ملفات الإقفال، أو لم تعد دفاتر الشهر هي التي أُعدّت منها الملفات. أعد تنفيذ الخطوات.',
      },
      finding_not_acknowledgeable: {
        en: 'A wrong hash cannot be acknowledged, nor a table that differs from the ledger: rebuild the tables, or restore the ledger.',
        ar: 'لا يمكن الإقرار ببصمة خاطئة ولا بجدول يختلف عن السجل: أعد بناء الجداول أو استعد السجل.',
      },
      already_acknowledged: { en: 'This finding is acknowledged already.', ar: 'سبق الإقرار بهذه الملاحظة.' },
    }),
    ...refusalsWith(403, {
      own_finding: {
        en: 'The finding is about what you did, proposed or approved yourself. A colleague has to acknowledge it.',
        ar: 'تتعلق هذه الملاحظة بما قمت به أو اقترحته أو وافقت عليه بنفسك، ويجب أن يقرّ بها أحد زملائك.',
      },
    }),
  },
}
