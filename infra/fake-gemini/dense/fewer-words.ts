import type { Language } from './language.ts';

/** What people say before they say something. */
const openers: Readonly<Record<Exclude<Language, 'other'>, RegExp>> = {
  en: /^(?:(?:hey|hi|hello|wow|yeah|yep|yes|no|nope|thanks(?: so much| a lot| again)?|thank you(?: so much)?|cool|great|awesome|sure(?: thing)?|okay?|sorry|oh|aw+|nice|congrats|haha|hm+|well|right|exactly|absolutely|definitely|of course|got it|good (?:morning|evening|night)|same here|by the way|btw|anyway|so|also|you know)(?: there)?(?:,? \p{Lu}\p{Ll}+)?[!,.:–-]+\s*)+/iu,
  de: /^(?:(?:hallo|hi|guten (?:morgen|tag|abend)|danke(?: schön| dir| ihnen)?|ja|nein|okay?|super|klar|genau|gut|also)[!,.]+\s*)+/iu,
  ja: /^(?:(?:こんにちは|こんばんは|おはようございます|はい|いえ|いいえ|うん|そうですね|なるほど|ありがとうございます|よろしくお願いします|えー+|あー+|へー+|確かに)[！!。、,…]+\s*)+/u,
  zh: /^(?:(?:[你您]好啊?(?:AI伴侣)?|嗨|好的|好|嗯+|是的|对|谢谢(?:您|你)?|明白了?|知道了|哦|啊|那么?|不客气|哈+)[！!。，,、]+\s*)+/u,
  ko: /^(?:(?:안녕하세요|네|예|아니요|감사합니다|고마워요?|좋아요|알겠습니다|음+|아)[!,.、]+\s*)+/u,
};

const intensifiers =
  /\b(?:really|very|actually|basically|totally|definitely|literally|truly|super|kind of|sort of|you know|I mean)(?:,)? (?=\p{L})|\bso (?=(?:much|many|good|happy|proud|excited|cool|great|nice|glad|fun|hard|thankful|grateful|powerful|\p{L}+(?:ful|ing|ive|ous|ant|ent))\b)|\bjust (?=\p{L})/giu;
const aside = /,? you know(?=[.!,]|$)/giu;
const each =
  /(?<=\d[\p{L}$€£]{0,3} (?:\p{L}{1,10} )?|\b(?:once|twice|times) )an? (?=(?:day|week|month|year|hour)\b)/giu;
const articles = /\b(?:the|an?) (?=[\p{L}\uE000])/giu;

const lowerFirst =
  /^(?:The|A|An|It|This|That|There|They|He|She|And|But|Is|Was|Has|Their|In|On|At|For|If|When)\b/u;

const lowered = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1);

function english(text: string): string {
  const shorter = text
    .replace(aside, '')
    .replace(intensifiers, '')
    .replace(each, 'per ')
    .replace(/^(?:and|but|so) /iu, '')
    .replace(articles, '');
  return lowerFirst.test(shorter) ? lowered(shorter) : shorter;
}

/** Without greetings, thanks and interjections at the beginning. */
export const withoutOpeners = (text: string, language: Language): string =>
  language === 'other' ? text : text.replace(openers[language], '');

/** Without the sign at the end, and in English without articles and words that only stress others. */
export function fewerWords(text: string, language: Language): string {
  const shorter = language === 'en' ? english(text) : text;
  return shorter
    .replace(/\s+/gu, ' ')
    .replace(/[\s.!。！,，;；~〜～]+$/u, '')
    .trim();
}
