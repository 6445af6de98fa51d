import { verbatimText } from './verbatim-item.ts';

/** What people and models call whoever they serve, in the languages in which wishes are recognised. */
const userNouns =
  /(?<![\p{L}\p{N}])(?:users?|nutzer(?:in|s)?|benutzer(?:in|s)?|anwender(?:in)?|utilisateurs?|utilisatrice|usuari[oa]s?|usuári[oa]s?|utilizador(?:a|es)?|utente|utenti)(?![\p{L}\p{N}])|用户|用戶|使用者|ユーザー?|利用者|사용자|이용자/iu;

/** Whether a statement speaks of the user: what he is said to have said, wants or does. */
export const tellsOfUser = (text: string): boolean => userNouns.test(text.normalize('NFKC'));

/** A statement with whose words it is. */
export const asToldByTool = (text: string): string => verbatimText({ speaker: 'tool', text });

const toolLabel = /^Tool: "(.*)"$/su;
export const isToldByTool = (text: string): boolean => toolLabel.test(text);
export const withoutToolLabel = (text: string): string => toolLabel.exec(text)?.[1] ?? text;
