import { plainText } from '../compaction/facts/speech/plain-text.ts';
import { isQuestion } from '../compaction/facts/speech/utterances.ts';

/**
 * What a sentence wishes: that a note be forgotten; perhaps that, for it speaks of another thing to be deleted, of what
 * holds no more, or drops the subject; that it be kept; or nothing.
 */
export type ForgetWish = 'forget' | 'perhaps' | 'keep' | 'none';

const anyOf = (...sources: readonly string[]): RegExp =>
  new RegExp(sources.map((source) => `(?:${source})`).join('|'), 'u');

/** Where a clause or an order begins. */
const opening = String.raw`(?:^|[,;:.!?–—-]\s?|(?<![\p{L}])(?:and|so|then|now|just|also|please|pls|und|dann|also|bitte|nun|jetzt|et|alors|donc|maintenant|s'il te plaît|s'il vous plaît|y|entonces|por favor|ahora|e|então|agora|allora|per favore|adesso|ora)\s)[\s"'(¡¿]*`;

const english = [
  String.raw`${opening}(?:(?:ok|okay|yes|no|well|hey|hi|please|you (?:can|may|should|must|could)|(?:can|could|would|will) you|would you mind|i(?: want| need| would like|'d like) (?:you )?to|go ahead and|let's|do)(?: please| just| now| also| completely)?,?\s){0,3}(?:forget|delet[ei]|remov[ei]|eras[ei]|discard|get rid of|(?:drop|clear|wipe|scrub)(?= (?:my|the|that|this|everything|all|what)))(?:ting|ng)?(?![\p{L}'])`,
  String.raw`(?<![\p{L}])(?:(?:don't|do not|no longer|stop|not|don't want you to|do not want you to) (?:remember(?:ing)?|keep(?:ing)?|stor(?:e|ing)|know(?:ing)?))(?![\p{L}])`,
  String.raw`(?<![\p{L}])(?:(?:should|can|may|must|could|to|please have|have|want|get|needs? to) (?:[^.?!]{0,60}\s)?(?:be )?|want [^.?!]{0,60} )(?:forgotten|deleted|removed|erased|dropped|wiped)(?![\p{L}])`,
];
const german = [
  String.raw`${opening}(?:(?:ok|ja|nein|gut|bitte|dann|doch|mal),?\s){0,3}(?:vergiss|vergiß|vergesst|vergessen sie|lösche?|löscht|löschen sie|streiche?|streicht|streichen sie|entferne?|entfernt|entfernen sie|tilge)(?![\p{L}])`,
  String.raw`(?<![\p{L}])(?:kannst|könntest|würdest|sollst|solltest|darfst|können sie|könnten sie|würden sie|sollen sie|bitte|möchte|will|lass|lassen sie)(?![\p{L}])[^.?!]{0,100}(?<![\p{L}])(?:vergessen|vergisst|löschen|löschst|streichen|streichst|entfernen|entfernst|tilgen)(?![\p{L}])`,
  String.raw`(?<![\p{L}])(?:sollt?e?n?|kann|können|darf|dürfen|muss|müssen|möchte|will)(?![\p{L}])[^.?!]{0,100}(?:vergessen|gelöscht|gestrichen|entfernt)(?: werden| haben)?(?![\p{L}])`,
  String.raw`(?<![\p{L}])merk(?:e)? dir [^.?!]{0,80}nicht (?:mehr|länger)`,
];
const frenchBase = 'oublier|effacer|supprimer|retirer|enlever';
const french = [
  String.raw`${opening}(?:(?:ok|oui|non|bon|donc|alors),?\s){0,3}(?:n'y pense plus|oublie[sz]?|oubliez|efface[sz]?|effacez|supprime[sz]?|supprimez|retire[sz]?|retirez|enlève[sz]?|enlevez)(?![\p{L}])`,
  String.raw`(?<![\p{L}])(?:peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|tu peux|vous pouvez|tu devrais|vous devriez|veuillez|merci (?:de|d'))(?![\p{L}])[^.?!]{0,60}(?:${frenchBase})(?![\p{L}])`,
  String.raw`(?<![\p{L}])(?:veux|voudrais|aimerais|souhaite)\s(?:bien\s)?que\s(?:tu|vous)\s[^.?!]{0,30}(?:oublies?|oubliiez|effaces?|supprimes?|retires?|enlèves?)(?![\p{L}])|(?:doit|peut|faut)\s[^.?!]{0,60}(?:oublier|effacer|supprimer|être (?:oublié|effacé|supprimé)e?s?)(?![\p{L}])|ne (?:te souviens|vous souvenez|retiens|retenez) plus`,
];
const spanish = [
  String.raw`${opening}(?:(?:ok|sí|no|bueno|vale|pues),?\s){0,3}(?:olvida(?:te|lo|la|los|las)?|olvídate|olvídal[oa]s?|olvide|olvídese|olvídel[oa]s?|borra|bórral[oa]s?|borre|bórrel[oa]s?|elimina|elimínal[oa]s?|elimine|elimínel[oa]s?|quita|quítal[oa]s?|quite|suprime|suprima)(?![\p{L}])`,
  String.raw`(?<![\p{L}])(?:puedes|podrías|puede|podría|debes|deberías|quiero que|quisiera que|me gustaría que|necesito que)(?![\p{L}])[^.?!]{0,60}(?:olvidar|olvides|olvide|olvidarte|borrar|borres|borre|borrar(?:l[oa]s?)|eliminar|elimines|elimine|quitar|quites|quite)(?:te|l[oa]s?)?(?![\p{L}])`,
  String.raw`(?<![\p{L}])(?:ya )?no (?:recuerdes|recuerde|guardes|guarde)(?![\p{L}])|(?:sea|sean|ser) (?:borrad|olvidad|eliminad)[oa]s?`,
];
const portuguese = [
  String.raw`${opening}(?:(?:ok|sim|não|bom|bem|então),?\s){0,3}(?:esquece(?:-te|-o|-a)?|esqueça|apaga(?:-o|-a)?|apague|remove|remova|elimina|elimine|exclui|exclua|tira|tire|deleta|delete)(?![\p{L}])`,
  String.raw`(?<![\p{L}])(?:podes|pode|poderias?|podias?|deves|deve|quero que|queria que|gostaria que|gostava que|preciso que)(?![\p{L}])[^.?!]{0,60}(?:esquecer|esqueças|esqueça|esquecesses?|apagar|apagues|apague|apagasses?|remover|removas|remova|eliminar|elimines|elimine|excluir|exclua|deletar)(?![\p{L}])`,
  String.raw`(?<![\p{L}])(?:já )?não (?:te lembres|se lembre|guardes|guarde)(?![\p{L}])`,
];
const italian = [
  String.raw`${opening}(?:(?:ok|sì|no|beh|bene|allora),?\s){0,3}(?:dimentica(?:ti|l[oaie])?|dimentichi|scorda(?:ti|l[oaie])?|cancella(?:l[oaie])?|cancelli|elimina(?:l[oaie])?|elimini|rimuovi(?:l[oaie])?|rimuova|togli(?:l[oaie])?|tolga)(?![\p{L}])`,
  String.raw`(?<![\p{L}])(?:puoi|può|potresti|potrebbe|dovresti|vorrei che|voglio che|mi piacerebbe che)(?![\p{L}])[^.?!]{0,60}(?:dimenticar[el][oaie]?|dimenticassi|dimentichi|cancellar[el][oaie]?|cancellassi|cancelli|eliminar[el][oaie]?|elimini|rimuover[el][oaie]?|togliere)(?![\p{L}])`,
  String.raw`(?<![\p{L}])non (?:ricordare|ricordarti|ricordi) più`,
];
const chinese = [
  String.raw`(?<![我他她它们們大家人就老总總])(?:忘记|忘記|忘掉|忘了|忘却|忘卻)(?![了]?[吗嗎没沒])`,
  String.raw`(?:请|請|麻烦|帮我|幫我|把|可以|能不能|能否|你就)[^。！？]{0,40}(?:忘|删|刪|清除|抹掉|去掉|移除)`,
  String.raw`(?:^|[，,。；：]|请|請)(?:删除|刪除|删掉|刪掉|删了|刪了|清除|抹掉|去掉|移除)`,
  String.raw`(?:别|別|不要|不用|不必)(?:再)?(?:记|記)(?:住|得|着|著|录|錄)?`,
];
const japanese = [
  String.raw`(?:忘れて|消して|消去して|削除して|取り消して|除いて|外して|破棄して)(?!しま|い(?:た|ま|る|な)|た|る|な(?!く)|ちゃ|も(?!(?:いい|構|かま|らえ|らい)))`,
  String.raw`(?:忘れ|消去し|削除し)(?:なさい|ろ)|お忘れください|(?:覚え|記憶し)て?(?:いなくて|おかなくて|なくて)(?:も)?(?:いい|結構|大丈夫)`,
];
const korean = [
  String.raw`잊어\s?(?:줘|주|줄\s?(?:래|수)|버려|라|도\s?(?:돼|되)|달라)|잊으(?:세요|십시오|라)|잊어$`,
  String.raw`(?:지워|없애|빼)\s?(?:줘|주|줄\s?(?:래|수)|라|버려|달라)|삭제\s?(?:해|하세요|하십시오|해라|부탁)|기억하지\s?(?:마|말)`,
];
const wishes = anyOf(
  ...english,
  ...german,
  ...french,
  ...spanish,
  ...portuguese,
  ...italian,
  ...chinese,
  ...japanese,
  ...korean,
);

/** What is to be kept. */
const keeps = anyOf(
  String.raw`(?<![\p{L}])(?:don't|do not|never|not to|not|without) (?:\p{L}{1,12} ){0,2}(?:forget|delet|remov|eras|drop|clear|wip|discard)(?:e|ing|ting)?`,
  String.raw`(?:vergiss|vergesst|lösche?|streiche?|entferne?) (?:[^.?!,]{1,60} )?(?:nicht|nie|niemals|auf keinen fall|bloß nicht)(?! mehr)|nicht (?:\p{L}{1,12} ){0,2}(?:vergessen|löschen|streichen|entfernen)|vergessen sie [^.?!,]{0,40}nicht`,
  String.raw`n'(?:oublie|efface|enlève)|ne (?:\p{L}{1,12} )?(?:supprime|retire|oublie|efface)|ne pas (?:oublier|effacer|supprimer)`,
  String.raw`(?<![\p{L}])(?:no|nunca) (?:(?:te|lo|la|los|las|se|me) ){0,2}(?:olvid|borr|elimin|quit)|(?<![\p{L}])(?:não|nunca) (?:(?:te|se|me|o|a) ){0,2}(?:esque|apag|remov|elimin|exclu)|(?<![\p{L}])(?:non|mai) (?:(?:ti|lo|la|si|mi) ){0,2}(?:dimentic|scord|cancell|elimin|rimuov)`,
  String.raw`忘れない|忘れません|忘れずに|消さない|削除しない|(?:别|別|不要|勿|不[会會])(?:忘|删|刪)|잊지|지우지|삭제하지`,
);

/** Verbs that people also say of other things than memories. */
const deletes =
  /delet|remov|eras|drop|clear|wip|discard|lösch|streich|entfern|efface|supprim|retir|enl[eè]v|borr|elimin|quit|supri|apag|exclu|tir[ae]|cancell|rimuov|togli|消|削除|除い|外し|删|刪|清除|去掉|移除|지워|삭제|없애|빼/u;
/** Things that are no memories. */
const otherThings = anyOf(
  String.raw`(?<![\p{L}])(?:files?|documents?|photos?|pictures?|images?|e-?mails?|mails?|messages?|drafts?|folders?|pages?|lines?|paragraphs?|sentences?|words?|rows?|columns?|events?|list|recipes?|cart|basket|bookings?|orders?|reservations?|calendar|code|functions?|tables?|chats?|songs?|playlist|reminders?|alarms?|slides?|tasks?|entry|entries|app|apps|account|password|tickets?|menu|salad|dish|soup|stains?|text)(?![\p{L}])`,
  String.raw`(?<![\p{L}])(?:dateie?n?|dokumente?|fotos?|bild(?:er)?|mails?|nachrichten?|entw[uü]rfe?|ordner|seiten?|zeilen?|abs[aä]tze?|s[aä]tze?|w[oö]rte?r?|termine?|liste|einkaufsliste|rezept|warenkorb|buchung(?:en)?|bestellung(?:en)?|kalender|tabelle|wecker|aufgaben?|eintrag|text|konto|passwort|salat|flecken?)(?![\p{L}])`,
  String.raw`(?<![\p{L}])(?:fichiers?|documents?|photos?|images?|courriels?|messages?|brouillons?|dossiers?|pages?|lignes?|phrases?|mots?|liste|recette|panier|réservations?|commandes?|calendrier|tableau|texte|compte|archivos?|documentos?|fotos?|imágen(?:es)?|correos?|mensajes?|borradore?s?|carpetas?|páginas?|líneas?|frases?|palabras?|lista|receta|carrito|reservas?|pedidos?|calendario|tabla|texto|cuenta)(?![\p{L}])`,
  String.raw`(?<![\p{L}])(?:ficheiros?|arquivos?|imagens?|imagem|e-mails?|mensagens?|mensagem|rascunhos?|pastas?|linhas?|receita|carrinho|calendário|tabela|conta|file|documenti?o?|foto|immagin[ei]|messagg[io]+|bozz[ae]|cartell[ae]|pagin[ae]|righ?[ae]|frasi|parol[ae]|ricetta|carrello|prenotazion[ei]|ordin[ei]|tabella|testo)(?![\p{L}])`,
  String.raw`文件|檔案|照片|图片|圖片|邮件|郵件|消息|草稿|文件夹|页面|頁面|句子|段落|清单|清單|食谱|食譜|购物车|購物車|订单|訂單|日历|日曆|表格|文本|账号|密码|ファイル|写真|画像|メール|下書き|フォルダ|ページ|行|文章|リスト|レシピ|カート|予約|カレンダー|表|파일|사진|이미지|메일|초안|폴더|페이지|문장|목록|레시피|장바구니|예약|주문|달력|표`,
);
/** Words for what is remembered. */
const memories =
  /(?<![\p{L}])(?:notes?|memor(?:y|ies)|remember\p{L}*|know about me|notizen?|gedächtnis|erinnerung(?:en)?|gemerkt|mémoire|souvenirs?|retenu|notas?|memorias?|memórias?|recuerdos?|apunt[oaei]+|memoria|ricord[oi]|saved|stored|gespeichert|told you)(?![\p{L}])|记忆|記憶|记住|記住|笔记|筆記|备忘|備忘|メモ|覚え|기억|메모/u;
/** The subject is dropped; that it is to be forgotten may be meant. */
const idiom = anyOf(
  String.raw`^\W*(?:(?:ok|okay|oh|ah|no|well|actually|nein|ach|bon|non|bueno|no|bom|não|beh)[,.]?\s)?(?:forget (?:about )?it|never ?mind|vergiss es|vergessen sie es|laisse tomber|oublie(?=[\s\p{P}]*$)|olvídalo|déjalo|esquece(?=[\s\p{P}]*$)|deixa(?: lá| pra lá)?|lascia (?:perdere|stare)|算了|もういい(?:です)?|なんでもない(?:です)?|됐어(?:요)?|아니야)(?![\p{L}])`,
);
/** It holds no more: that is a change, of which there may be several. */
const noMore =
  /(?<![\p{L}])(?:no longer|any ?more|not true|is wrong|outdated|nicht mehr|stimmt nicht|veraltet|falsch|ne [^.?!]{1,40} plus|n'[^.?!]{1,40} plus|n'est pas vrai|ya no|no es cierto|já não|não é verdade|mais não|non [^.?!]{1,40} più|non è vero)(?![\p{L}])|不再|已经不|已經不|もう[^。]{1,20}(?:ない|ません)|더\s?이상|이제[^.]{1,20}(?:않|아니)/u;

/** Asks for it by asking whether it can be done. */
const politely =
  /(?<![\p{L}])(?:can|could|would|will) you|(?<![\p{L}])(?:please|bitte|kannst|könntest|würdest|können sie|könnten sie|würden sie|peux-tu|pouvez-vous|pourrais-tu|pourriez-vous|puedes|podrías|puede|podría|podes|pode|poderias?|podias?|puoi|può|potresti|potrebbe)(?![\p{L}])|请|請|能不能|可以|能否|くれ|もらえ|いただけ|줄\s?래|주실|줄 수|주세요/u;

/**
 * What a sentence of a user wishes of a note. Heuristic for English, German, French, Spanish, Portuguese, Italian, Chinese,
 * Japanese and Korean: an order or a polite question, no past, no other person, nothing denied. Where it is not sure it
 * says `perhaps`, and the user is asked.
 */
export function forgetWish(sentence: string): ForgetWish {
  const plain = plainText(sentence);
  if (keeps.test(plain)) return 'keep';
  if (idiom.test(plain)) return 'perhaps';
  if (wishes.test(plain) && (!isQuestion(sentence) || politely.test(plain))) {
    const isOther = deletes.test(plain) && otherThings.test(plain) && !memories.test(plain);
    return isOther ? 'perhaps' : 'forget';
  }
  return noMore.test(plain) ? 'perhaps' : 'none';
}

/** Where, in a plain sentence, its wish stands; -1: nowhere. */
export const wishStart = (plain: string): number => plain.search(wishes);
