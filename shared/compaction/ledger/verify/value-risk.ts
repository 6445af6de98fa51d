import type { CheckedValue } from '#shared/compaction/facts/index/unsupported.ts';

/** Digits that make a word or a number somebody's reference: shorter ones are versions, sizes, names. */
const REFERENCE_DIGITS = 3;
/** Digits of a bare number that nobody would count. */
const NUMBER_DIGITS = 6;

/** What is swallowed, injected or applied. */
const dose =
  /^\d[\d.,]*\s?(?:mg|mcg|µg|ug|ml|g|iu|units?|tablets?|pills?|capsules?|drops?|puffs?|ie|錠|ミリグラム|毫克|片|粒|정|알)(?![\p{sc=Latin}\d])/iu;
/** Words in front of a number that belongs to an order, a booking, an account or a card. */
const referenceWords =
  /(?<!\p{L})(?:order|booking|reservation|confirmation|invoice|ticket|account|card|iban|policy|passport|customer|member(?:ship)?|case|tracking|pin|code|bestellung|rechnung|konto|commande|pedido|reserva|注文|予約|番号|口座|订单|預訂|预订|账号|帳號|주문|예약|계좌)(?:\s?(?:no\.?|number|nr\.?|id|code|番号|号|번호))?\s?[:#]?\s?$/iu;

/** Words in front of a number that is a sum of money without its sign. */
const moneyWords =
  /(?<!\p{L})(?:amount|price|total|subtotal|cost|costs|fare|balance|refund|fee|fees|deposit|salary|rent|budget|paid|pays?|owes?|charged?|betrag|preis|montant|prix|precio|importe|金額|料金|价格|价钱|金额|금액|가격)\s?(?:is|was|of|は|是|为)?\s?[:=]?\s?$/iu;

const digitsIn = (text: string): number => text.replaceAll(/\D/gu, '').length;

/** Parts of dates and clock times joined with a sign: `2023-05-20/21`, `05-12..14`. */
const joinedDate = /^\d{4}-\d{2}(?:-\d{2})?(?:\/|\.\.|–|-|~)\d{1,2}(?:-\d{2})*$/u;

/**
 * Whether a wrong value would do harm that nobody undoes: money, contacts, links, numbers of orders, bookings and
 * accounts, doses, identifiers. Heuristic.
 */
export function isHighRisk({ kind, text, before, after }: CheckedValue): boolean {
  switch (kind) {
    case 'amount':
    case 'link':
    case 'email':
    case 'phone':
      return true;
    case 'identifier':
      return digitsIn(text) >= REFERENCE_DIGITS && !joinedDate.test(text);
    case 'quantity':
      return dose.test(text + after);
    case 'number':
      return (
        digitsIn(text) >= NUMBER_DIGITS ||
        referenceWords.test(before) ||
        moneyWords.test(before) ||
        dose.test(text + after)
      );
    case 'path':
    case 'date':
    case 'time':
    case 'quoted':
    case 'name':
    case 'term':
    case 'instruction':
      return false;
  }
}
