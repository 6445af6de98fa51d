import { findMatches } from '#shared/text/matches.ts';
import { unspacedScript } from '#shared/compaction/facts/speech/content-words.ts';

const union = (sources: readonly string[]): string =>
  sources.map((source) => `(?:${source})`).join('|');

/** Verbs of speech in forms that third persons have; a base form ("never say …") orders. */
const spoken = String.raw`wrote|writes|written|said|says|told|tells|replied|replies|answered|answers|asked|asks|texted|texts|emailed|e-mailed|posted|commented|announced|warned|schrieb|schreibt|geschrieben|sagte|sagt|gesagt|meinte|meint|antwortete|antwortet|écrit|écrivait|dit|disait|répondu|répond|escribió|escribe|escrito|dijo|dice|dicho|respondió|responde|escreveu|escreve|escrito|disse|diz|dito|respondeu|scritto|scrive|scrisse|detto|rispose|risponde|risposto`;
/** The same where words are not parted by blanks: what stands before a colon or a quotation mark. */
const spokenEast = String.raw`(?:写道|寫道|写信说|说道|說道|说|說|表示|回复|回覆|回答|来信|來信|留言|通知|告诉我|告訴我|转告|[问問](?![题題])|と(?:言|い)(?:った|って(?:いた|いました)?|いました)|書(?:いた|いてきた|いています)|返信|返事|伝言|말(?:했어요|했다|했습니다|하기를|씀)|썼(?:어요|다|습니다)|답장|전달)`;
/** A word between a verb of speech and its colon: `to me`, `(host)`, `<m@x.example>`. */
const name = String.raw`[\p{L}\p{N}'’()<>@&-]{1,30}(?:\.[\p{L}\p{N}'’()<>@&-]{1,30}){0,4}`;

/** Who speaks is the user. */
const bySelf = new RegExp(
  union([
    String.raw`(?<![\p{L}'’])(?:i|we|ich|wir|je|j['’]ai|nous(?: avons)?|yo|eu|nós|io|noi)(?:['’](?:ve|d|m))?(?:\s(?:have|had|already|just|also|once|only|always|did|habe|schon|bereits|ai|ho|he|déjà|già|ya|já)){0,3}\s?$`,
    String.raw`(?:^|[^\p{sc=Han}])(?:我|我们|我們|咱们)(?:已经|已經|刚才|剛才|刚|剛|之前|都|也|就|再|先|只|想|要)?$`,
    String.raw`(?:私|僕|俺)(?:は|が)[^、。]{0,6}$|(?:나는|내가|제가|저는)\s?$`,
    String.raw`(?:as|like|wie|wie schon|bereits)\s$`,
  ]),
  'iu',
);

const speech = new RegExp(
  String.raw`(?:(?<![\p{L}'’])(?:${spoken})(?![\p{L}'’])(?:\s${name}){0,5}\s?|${spokenEast}[了过過着]?[\p{L}]{0,6}\s?)[:：]`,
  'giu',
);

/** Nobody else speaks in a line without one, unless its marks or a greeting say so. */
export const holdsColon = (line: string): boolean => line.includes(':') || line.includes('：');

function endsInColon(line: string): boolean {
  const said = line.trimEnd();
  return said.endsWith(':') || said.endsWith('：');
}

/** Where, in a line, somebody else begins to speak without quotation marks: behind the colon; -1: nowhere. */
export function speechStart(line: string): number {
  if (!holdsColon(line)) return -1;
  for (const match of findMatches(line, speech))
    if (!bySelf.test(line.slice(Math.max(0, match.index - 40), match.index)))
      return match.index + match[0].length;
  return -1;
}

const before = new RegExp(
  String.raw`(?:(?<![\p{L}'’])(?:${spoken})(?![\p{L}'’])(?:\s${name}){0,5}[\s,:]{0,3}|${spokenEast}[了过過着]?[，,:：\s]{0,3})$`,
  'iu',
);
const behind = new RegExp(
  String.raw`^[\s,.;!?]{0,3}(?!(?:which|that|who|where|when|and|or|is|are|der|die|das|que|qui|che)(?!\p{L}))(?:(?:${name}\s){0,3}(?:${spoken})(?![\p{L}'’])|(?:と|って)[\p{L}]{0,6}(?:言|い[っう]|書|返|伝|頼|指示)|(?:라고|이라고|고)\s?(?:말|했|하|썼|쓰|적|답)|[，,]?[^。，,\n]{0,8}${spokenEast})`,
  'iu',
);

/** Whether the words around a quotation say that somebody else said it. */
export function isOthersSpeech(textBefore: string, textBehind: string): boolean {
  const said = before.exec(textBefore);
  if (said !== null && !bySelf.test(textBefore.slice(0, said.index))) return true;
  const saidBehind = behind.exec(textBehind);
  return saidBehind !== null && !/^[\s,.;!?]{0,3}(?:i|we|ich|wir|je|yo|eu|io)\s/iu.test(textBehind);
}

/** What somebody wrote, as one speaks of it. */
const texts = String.raw`e-?mail|mail|message|letter|article|text|chat|post|page|document|transcript|review|newsletter|comment|conversation|nachricht|brief|artikel|beitrag|seite|dokument|kommentar|schreiben|gespräch|courriel|lettre|article|texte|avis|commentaire|correo|mensaje|carta|artículo|texto|comentario|mensagem|carta|artigo|comentário|messaggio|lettera|articolo|testo|commento`;
const pointing = String.raw`here(?:['’]s| is| are| comes)|this is|that is|below is|see|i (?:just )?(?:got|received)|the following|following|hier (?:ist|kommt|sind)|das ist|folgende[rns]?|ich habe|voici|voilà|ci-dessous|j['’]ai reçu|aquí (?:está|tienes|va)|este es|esta es|el siguiente|la siguiente|he recibido|aqui (?:está|vai)|este é|esta é|o seguinte|a seguinte|recebi|ecco|questo è|questa è|il seguente|la seguente|ho ricevuto`;
/** Lines that announce a text of somebody else: a mail, a forwarded message, the parts of a chat. */
const announces = new RegExp(
  String.raw`(?:${union([
    String.raw`(?:(?<![\p{L}])(?:her|his|their|its|ihre?|seine?|son|sa|ses|su|sus|sua|seu|suo)\s(?:${name}\s){0,2}(?:e-?mail|mail|message|letter|note|sms|text|chat|reply|answer|nachricht|brief|antwort|courriel|lettre|réponse|correo|mensaje|carta|respuesta|mensagem|resposta|messaggio|lettera|risposta)(?![\p{L}])|(?<![\p{L}])(?:forward(?:ed|ing)?|fwd|weitergeleitete?|transféré|je te transfère|reenviado|reenvío|encaminh(?:o|ada|ado)|inoltr(?:o|ato))(?![\p{L}])|(?:mail|e-?mail|message|letter|nachricht|courriel|correo|mensaje|mensagem|messaggio)\s(?:from|von|de|da|di)\s|转给|轉給|转发|轉發|(?:回|来|來)信|邮件|郵件|転送|メールが|返信が|(?:메일|답장|메시지)(?:이|가|를|을)?)[^:：\n]{0,60}`,
    String.raw`(?<![\p{L}])(?:${pointing})\s(?:${name}\s){0,4}(?:${texts})(?![\p{L}])[^:：\n]{0,60}`,
    String.raw`(?:这是|這是|以下是|下面是|收到)[^:：\n]{0,20}(?:文章|消息|讯息|訊息|信件|内容|內容|文字|短信|聊天)[^:：\n]{0,12}|(?:これは|以下は|次は|届いた)[^:：\n]{0,20}(?:メール|手紙|文章|記事|メッセージ)[^:：\n]{0,12}|(?:이것은|다음은|아래는|받은)[^:：\n]{0,20}(?:메일|편지|글|기사|메시지|문자)[^:：\n]{0,12}`,
  ])})[:：]\s*$`,
  'iu',
);
export const announcesPaste = (line: string): boolean => endsInColon(line) && announces.test(line);

/** Who announces what he himself says, or wants kept in mind. */
const ofUserHimself =
  /(?<![\p{L}])(?:i|me|my|mine|we|our|ich|mir|mich|meine?[rsnm]?|wir|unsere?[rsnm]?|je|moi|mon|ma|mes|nous|nos|yo|mí|mis?|nuestr[oa]s?|eu|mim|meus?|minhas?|nós|io|me|mi[oa]|miei|mie|noi|remember|merk\p{L}*|retiens|recuerda|lembra|ricorda)(?![\p{L}])|我|私|僕|俺|나는|나의|내|저는|저의|제가|제\s|기억|记住|記住|覚え/iu;

/** Whether a line ends with a colon and does not announce what the user himself says. */
export const announcesMuch = (line: string): boolean =>
  endsInColon(line) && !ofUserHimself.test(line);

const thisText = String.raw`(?:this|that|these|it|the|following|below|diese[snmr]?|das|den|die|folgende[snmr]?|ce|cet|cette|le|la|les|ça|est[eoa]s?|el|los|las|o|a|os|as|quest[oaie]|il|lo|i|gli)`;
/** Asks to work on a text, which stands behind the colon. */
const work = new RegExp(
  union([
    String.raw`(?:^|[.!?,]\s|(?<![\p{L}])(?:please|bitte|por favor|per favore|s['’]il (?:te|vous) plaît|can you|could you|kannst du|peux-tu|puedes|podes|pode|puoi)\s)(?:summari[sz]e|translate|proofread|paraphrase|rewrite|rephrase|übersetze?n?(?: sie)?|fasse?(?: bitte)? (?:zusammen|${thisText})|résumez?|traduis|traduisez|reformulez?|resume|resuma|traduce|traduzca|reescribe|traduz|traduza|reescreva|riassumi|traduci|riscrivi)(?![\p{L}])[^:：\n]{0,60}`,
    String.raw`(?:^|[.!?,]\s|(?<![\p{L}])(?:please|bitte|por favor|per favore|can you|could you|kannst du)\s)(?:correct|explain|check|improve|edit|shorten|polish|analy[sz]e|read|(?:reply|respond) to|korrigiere?|erkläre?|prüfe?|verbessere?|kürze?|lies|beantworte?|corrige|explique|relis|lis|corrija|explica|revisa|lee|revise|leia|lê|correggi|spiega|rivedi|leggi)\s${thisText}(?![\p{L}])[^:：\n]{0,60}`,
    String.raw`(?:总结|總結|概括|翻译|翻譯|润色|潤色|修改|校对|解释|解釋|回复|回覆|分析)[^:：\n]{0,20}|(?:要約|翻訳|校正|添削|説明|返信)して[^:：\n]{0,20}|(?:요약|번역|교정|수정|설명|답장)해[^:：\n]{0,20}`,
  ]).replace(/^(.*)$/su, '(?:$1)(?::(?=\\s|$)|：)'),
  'iu',
);

/** Where, in a line, a text begins that the user asks to work on, behind its colon; -1: nowhere. */
export function workStart(line: string): number {
  const found = holdsColon(line) ? work.exec(line) : null;
  if (found === null) return -1;
  const colon = found.index + found[0].length;
  const rest = line.slice(colon);
  return colon + (rest.length - rest.trimStart().length);
}

const mailBreak =
  /^[\s>]{0,20}(?:[-_=*]{2,40}\s{0,3}(?:original|forwarded|ursprüngliche|weitergeleitete|message (?:d'origine|transféré)|mensaje (?:original|reenviado)|mensagem (?:original|encaminhada)|messaggio (?:originale|inoltrato)|原始邮件|原始郵件|转发的?邮件|転送|元のメッセージ|원본 ?(?:메시지|메일)|전달된 ?메시지)[^\n]{0,60}|begin forwarded message\b[^\n]{0,20}|anfang der weitergeleiteten[^\n]{0,30})/iu;
/** The line above a quoted mail: `On 3 March 2026 at 10:00, Marta <m@x.example> wrote:`. */
const mailOpening =
  /^[\s>]{0,20}(?:on|am|le|el|em|il|op)\s[^\n]{0,200}\d[^\n]{0,200}(?:wrote|schrieb[^\n]{0,80}|a écrit|escribió|escreveu|ha scritto)\s?:\s*$|\d{4}[^\n]{0,100}(?:写道|寫道|のメール|님이 (?:작성|썼))[^\n]{0,20}[:：]\s*$/iu;
export const opensMail = (line: string): boolean =>
  mailBreak.test(line) || (holdsColon(line) && mailOpening.test(line));

const mailField =
  /^[\s>*]{0,20}(?:from|sent|to|cc|date|subject|reply-to|von|gesendet|an|datum|betreff|de|envoyé|à|objet|enviado|para|asunto|assunto|da|inviato|a|oggetto|发件人|發件人|发送时间|收件人|主题|主旨|差出人|送信日時|宛先|件名|보낸 ?사람|받는 ?사람|날짜|제목)\*{0,2}\s?[:：]/iu;
/** A field of the head of a mail. A journey has `From:` and `To:` as well. */
export const isMailField = (line: string): boolean => holdsColon(line) && mailField.test(line);

/** What only mails have in their heads. */
export const isSureMailField = (line: string): boolean =>
  mailField.test(line) &&
  /@|^[\s>*]{0,20}(?:sent|subject|reply-to|gesendet|betreff|envoyé|objet|enviado|asunto|assunto|inviato|oggetto|发件人|發件人|发送时间|收件人|主题|主旨|差出人|送信日時|件名|보낸|받는|제목)/iu.test(
    line,
  );

/** A line of an exported chat with its time, or one that says another role speaks. */
const chatLine =
  /^\s*(?:\[\s?(?:\d{1,4}[./-]\d{1,2}(?:[./-]\d{2,4})?,?\s)?\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]m)?\s?\]\s?[^:：\n]{1,40}[:：]|\d{1,4}[./-]\d{1,2}[./-]\d{2,4},?\s\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]m)?\s?[-–]\s?[^:：\n]{1,40}[:：]|\[?(?:system|assistant|developer|tool|ai|bot|model)(?: (?:message|prompt|note))?\]?\s?[:：])/iu;
export const isChatLine = (line: string): boolean => holdsColon(line) && chatLine.test(line);

const speaker = /^\s*(?:[-*•]\s)?(\*{0,2}\p{L}[\p{L}'’ .-]{0,24}\*{0,2})\s?[:：]\s?\S/u;

/** Whose name stands before the colon of a line, as in a chat or a form. */
export const findSpeaker = (line: string): string | undefined => speaker.exec(line)?.[1];

/** Letters of scripts without blanks between words count double. */
const wide = new RegExp(`[${unspacedScript}]`, 'gu');

/** About as many characters as the text would have in Latin letters. */
export const weightOfText = (text: string): number => text.length + (text.match(wide)?.length ?? 0);
