import { verbatimText } from './verbatim-item.ts';

/** What people and models call whoever they serve, in the languages in which wishes are recognised. */
const nouns = String.raw`(?<![\p{L}\p{N}])(?:users?|nutzer(?:in|s)?|benutzer(?:in|s)?|anwender(?:in)?|utilisateurs?|utilisatrice|usuari[oa]s?|usuári[oa]s?|utilizador(?:a|es)?|utente|utenti)(?![\p{L}\p{N}])|用户|用戶|使用者|ユーザー?|利用者|사용자|이용자`;
/** What he is told to say or to want; or a colon or a mark, behind which he seems to speak. */
const speech = String.raw`["“”„«»「『‘:：]|(?<![\p{L}])(?:sa(?:id|ys?)|told|tells?|ask(?:s|ed)?|want(?:s|ed)?|wish(?:es|ed)?|need(?:s|ed)?|require[sd]?|insist(?:s|ed)?|instruct(?:s|ed)?|order(?:s|ed)?|prefer(?:s|red)?|decide[sd]?|approve[sd]?|agree[sd]?|allow(?:s|ed)?|confirm(?:s|ed)?|sag\p{L}*|gesagt|bat|bitte[tn]?|will|wollte|möchte|wünsch\p{L}*|verlang\p{L}*|forder\p{L}*|entschied\p{L}*|erlaub\p{L}*|dit|demand\p{L}*|veut|voulait|souhait\p{L}*|exig\p{L}*|dijo|dice|dicho|pid[eió]\p{L}*|quiere|quería|dese[ao]\p{L}*|disse|diz|pediu|quer|queria|detto|dice|chie\p{L}+|vuole|voleva|desidera)(?![\p{L}])|说|說|要求|希望|想要?|同意|言|望|求め|欲し|頼|말|원하|원한|요청|부탁|요구`;
const tells = new RegExp(`(?:${nouns})[^.?!。？！\n]{0,40}?(?:${speech})`, 'iu');

/** Whether a statement tells what the user says or wants. */
export const claimsAboutUser = (text: string): boolean => tells.test(text.normalize('NFKC'));

const marked = /^"(.*)"$/su;

/** A statement with whose words it is; in one pair of marks. */
export const asToldByTool = (text: string): string =>
  verbatimText({ speaker: 'tool', text: marked.exec(text)?.[1] ?? text });

const toolLabel = /^Tool: "(.*)"$/su;
export const isToldByTool = (text: string): boolean => toolLabel.test(text);
export const withoutToolLabel = (text: string): string => toolLabel.exec(text)?.[1] ?? text;
