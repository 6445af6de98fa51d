import type { LatinLanguage } from './wish-triggers.ts';

/** One language's ways to say what is wanted always, never, at most or not at all. */
export interface WishPatterns {
  wish: RegExp;
  /** What looks like a wish and is none: narration, politeness, guesses. */
  not: RegExp;
}

const joined = (sources: readonly string[], flags = 'iu'): RegExp =>
  new RegExp(sources.map((source) => `(?:${source})`).join('|'), flags);

const opening = String.raw`^(?:(?:and|but|also|so|oh|ok|okay|remember|note|important|reminder|please|just|plus|then|by the way|btw|one more thing)[,:]?\s){0,3}`;
const bounds = String.raw`(?:at most|at least|no more than|no less than|not more than|no later than|no earlier than|not before|not after|up to|maximum|minimum)\s(?:of\s)?(?:[$€£¥₩]|\d|an?\b|one|two|three|four|five|six|ten|noon|midnight)`;
const diets = String.raw`(?:vegan|vegetarian|pescatarian|gluten[- ]free|lactose[- ]intolerant|lactose[- ]free|celiac|coeliac|diabetic|halal|kosher)`;

const english: WishPatterns = {
  wish: joined([
    String.raw`${opening}(?:never|always|do not|don't|avoid|make sure|ensure|under no circumstances|refrain from|stick to)\s\w`,
    String.raw`${opening}only\s(?:use|book|show|send|reply|answer|respond|include|consider|offer|suggest|recommend|call|write|list|give|contact|pick|choose|buy|order|accept)\b`,
    String.raw`${opening}(?:call|address)\sme\s\w`,
    String.raw`${opening}(?:reply|answer|respond|write|speak|talk)\s(?:to me\s)?(?:only\s)?in\s\w`,
    String.raw`\b(?:from now on|going forward|from here on|in all future|for all future|in every (?:answer|reply|response))\b`,
    String.raw`\b(?:can|could|would|will)\syou\s(?:please\s)?(?:always|never|only|make sure|avoid|not)\s`,
    String.raw`\b(?:please|you (?:must|should|have to|need to|are to))\s(?:never|always|avoid|only ever)\s\w`,
    String.raw`(?:${opening}|\bplease\s)(?:answer|reply|respond|write|speak|talk)(?:\s\w+){0,3}?\s(?:always|never|only)\b`,
    String.raw`(?:${opening}|\bplease\s)keep (?:your |the |all )?(?:answers|replies|responses|messages)(?:\s\w+){0,2}?\s(?:under|below|short|brief|within|to)\b`,
    String.raw`\bplease\s(?:don't|do not|only|make sure|ensure|keep)\s`,
    String.raw`\byou\s(?:must|should)(?:n't|\snot)\s`,
    String.raw`\byou\smust\s(?!be\b|have\b|feel\b|miss\b|love\b)`,
    String.raw`\b(?:i|we)\s(?:really\s)?(?:don't|do not|never|can't|cannot|can not|won't|must not|mustn't|am not able to)\s(?:ever\s)?(?:eat|drink|want|accept|fly|consume|tolerate|like|take any|need any|allow|use|have (?:any )?(?:dairy|gluten|nuts|sugar|meat|alcohol|lactose|shellfish))\b`,
    String.raw`\b(?:i|we|my \w+)(?:'m|'re|\sam|\sare|\sis|'s)\s(?:severely\s|very\s|also\s|highly\s|a\s|strictly\s)?(?:allergic|intolerant|${diets})\b`,
    String.raw`\b(?!(?:it|this|that|what|who|there)\b)\p{L}{2,20}(?:'s|\sis|\sare)\s(?:(?:also|severely|very|highly|really|strictly|a)\s){0,2}(?:allergic\sto|allergic$|(?:lactose|gluten)[- ]intolerant|celiac|coeliac|diabetic)\b`,
    String.raw`\b(?!(?:it|this|that|what|who|which|there|everything|all|place|restaurant|menu|food|dish|meal|cafe|café|recipe|option|version|burger|soup)\b)\p{L}{2,20}\sis\s(?:(?:also|strictly|a)\s){0,2}(?:vegan|vegetarian|pescatarian)\b`,
    String.raw`\b(?!(?:it|this|that|who|you)\b)\p{L}{2,20}\s(?:doesn't|does not|can't|cannot|can not|mustn't)\s(?:eat|drink|have (?:any )?(?:dairy|gluten|nuts|sugar|meat|alcohol|lactose|shellfish))\b`,
    String.raw`\b(?:i|we)\shave\s(?:an?\s)?(?:\w+\s){0,2}(?:allergy|allergies|intolerance)\b|\bmy\s(?:\w+\s){0,2}(?:allergy|allergies)\b`,
    String.raw`\b(?:i|we)(?:\salways|\sstill|\sgenerally|\susually|\sstrongly|\smuch|'d|\swould)?\sprefer\b|\bi(?:'d| would) rather\b|\bmy preference is\b`,
    String.raw`\b(?:i|we)\sonly\s(?:eat|drink|want|use|fly|accept|need|take|work|speak|read)\b`,
    String.raw`\b(?:i|we)\s(?:want|need|insist)\s(?:\w+\s){0,6}only\b`,
    String.raw`\b(?:the|all|every|any|each|your|my)\s(?:\w+\s){1,4}(?:must|has to|have to)\s(?!have been|be (?:so|really|very)\b)`,
    String.raw`\b(?:my|our)\s(?:\w+\s)?(?:budget|limit|maximum|deadline)\s(?:is|will be)\b|^(?:(?:total|maximum|max)\s)?budget\s?(?:is|:)\s?\D{0,12}\d`,
    String.raw`\b(?:want|need|like|looking|find|keep|should|must|please|budget|book|cost|spend|pay|price|rating|stars?)\b[^.]{0,80}\b${bounds}|\b${bounds}[^.]{0,60}\b(?:please|budget)\b`,
    String.raw`^no\s\w+(?:\s\w+){0,4},?\s(?:please|thanks)`,
    String.raw`${opening}(?:only|without)\s[^.?!]{2,60}?,?\s(?:please|pls)\b`,
    String.raw`(?<!\b(?:is|was|have|has|had)\s)\bnothing\s(?:without|with|before|after|over|above|under|below|too|that)\s[^.?!]{2,60}\bplease\W*$|${opening}nothing\s(?:without|before|after|over|above|more expensive)\s\w`,
    String.raw`(?:${opening}|\bwe\s)(?:use|write|say|speak)\s(?!it\b|this\b|that\b|them\b)[^.,;?]{1,40},\s(?:but\s)?(?:not|never)\s(?!often\b|much\b|very\b|that\b|because\b|just\b|only\b|yet\b|always\b)\w|${opening}use\s\S{2,30}\s(?:instead of|rather than)\s\S{2,30}$`,
    String.raw`${opening}(?:leave|keep)\s(?!me\b)[^?!]{2,60}\s(?:alone|untouched|unchanged|as (?:it|they) (?:is|are|was|were)|as is)\b|${opening}leave\s(?!me\b)[^?!]{2,60}\sin(?:,|\sfor now|\splease|[.\s]*$)|${opening}hands off\s\w`,
    String.raw`${opening}(?:stay|keep (?:it|this|that|everything))\s(?:under|below|within)\s\S`,
    String.raw`\b(?:is|are|'s)\s(?:absolutely\s|strictly\s)?(?:off[- ]limits|a (?:hard |strict )?(?:requirement|no-go|dealbreaker|deal-breaker)|not (?:allowed|acceptable|an option)|forbidden)\b`,
  ]),
  not: joined([
    String.raw`\b(?:never mind|never (?:been|heard|thought|knew|had|seen|tried|met|gone|felt|know|too late|a dull)|(?<!(?:answer|reply|respond|write|speak|talk)\s)always (?:a|an|so|good|great|happy|nice|fun|been|loved|wanted|had|here|there|up for|important|open|down|feels?|the|worth|something|remember(?:ed)?|in|on|at|with|my|makes|was|is|better|helps)\b)`,
    String.raw`\bdon't (?:worry|mention it|know|get me wrong|be (?:silly|sorry|afraid|shy|so|too)|think|you|we|they|i\b|give up|hesitate|have to|forget you|get too|let|give yourself|stress|sweat|beat yourself|lose|forget|miss)\b`,
    String.raw`\b(?:can't|cannot) (?:want|like) `,
    String.raw`\b(?:she|he|they|who) (?:said|told|says|asked)\b`,
    String.raw`^(?:wow|haha|lol)\b`,
    String.raw`\bi (?:\w+ )?(?:don't|do not) want (?:\w+ to\b|to (?!fly|travel|(?:pay|spend) (?:more|over|above|extra|any)\b|stay|be\b|book|use|receive|buy|change|cancel|leave|arrive|depart|share|eat|drink)|(?:that|it|this|them)(?:\s(?:any ?more|now))?(?:[,.!]|$))|\bused to\b`,
    String.raw`^(?:so|then|therefore|thus|hence|that means|which means|because|since|if)\s(?:the|all|every|any|each|your|my)\s(?:\w+\s){1,4}(?:must|has to|have to)\b|\bforget (?:that|what) i\b`,
    String.raw`\bmake sure (?:i|we|they|he|she)\b`,
    String.raw`\b(?:always|never) \w+(?:ed|ing)\b`,
  ]),
};

const german: WishPatterns = {
  wish: joined([
    String.raw`\bbitte\s(?:\p{L}+\s){0,4}(?:nie|niemals|immer|nur|keine?[nrms]?|nicht|ausschließlich)\b`,
    String.raw`\b(?:auf keinen fall|unter keinen umständen|ab (?:jetzt|sofort|heute)|in zukunft|künftig|von nun an)\b`,
    String.raw`^(?:und\s|aber\s)?(?:nie|niemals|nur|immer|vermeide|vermeiden sie|achte darauf|achten sie darauf|verwende|verwenden sie|nutze|buche|antworte|antworten sie)\s(?:\p{L}+\s){0,5}\p{L}`,
    String.raw`\b(?:ich|wir)\s(?:möchten?|wollen|will|mag|mögen|esse|essen|trinke|trinken|vertrage|brauche|nehme|fliege|kann|darf)\s(?:\p{L}+\s){0,4}(?:keine?[nrms]?|nicht|nie|niemals|nur|ausschließlich)\b`,
    String.raw`\b(?:bin|ist|sind|habe|hat|haben)\s(?:\p{L}+\s){0,4}(?:allergisch|allergie|unverträglichkeit|laktoseintolerant|vegetarier(?:in)?|vegan|veganer(?:in)?|vegetarisch)`,
    String.raw`\b(?:ich|wir)\s(?:bevorzugen?|ziehe\s\p{L}+\svor|hätten? lieber|möchten? lieber|will lieber)\b|\bam liebsten\b`,
    String.raw`\b(?:höchstens|mindestens|maximal|nicht mehr als|spätestens|frühestens)\s\S`,
    String.raw`\b(?:du|sie|ihr)\s(?:darfst|sollst|musst|dürfen|sollen|müssen|dürft)\b`,
    String.raw`\b(?:mein|unser)\s(?:budget|limit)\b`,
    String.raw`\bnichts\s(?:ohne|vor|nach|über|mit)\s[^.?!]{2,60}\bbitte\b|^nichts\s(?:ohne|vor|nach|über)\s\p{L}`,
    String.raw`^(?:bitte\s)?(?:nimm|nehmen sie|benutze?n?(?: sie)?|verwenden?(?: sie)?|nutzen?(?: sie)?|wir (?:benutzen|verwenden|nutzen))\s[^.,;?]{1,40},\s(?:und\s)?nicht\s\p{L}`,
    String.raw`^(?:bitte\s)?(?:lass|lasst|lassen sie)\s(?!mich\b|uns\b)[^?!]{2,60}\s(?:in ruhe|unverändert|unangetastet|drin|so|wie (?:sie|es|er) (?:ist|sind|war))(?![\p{L}])`,
    String.raw`^(?:bitte\s)?(?:erwähne?|fasse?|ändere?|lösche?)\s[^?!]{2,60}\snicht(?:\san)?(?:[,.\s]|$)`,
    String.raw`\b(?:antworte|antworten sie|schreibe?|sprich)\s(?:(?:mir|bitte|immer)\s){0,3}auf\s\p{L}`,
  ]),
  not: joined([
    String.raw`\bkeine (?:sorge|ahnung|ursache)\b`,
    String.raw`\bnicht (?:wahr|schlimm)\b`,
  ]),
};

const french: WishPatterns = {
  wish: joined([
    String.raw`\b(?:je|nous)\s(?:ne|n')\s?(?:veux|voulons|mange|mangeons|bois|peux|supporte|souhaite|prends|tolère)\b`,
    String.raw`\b(?:je suis|nous sommes|est|il est|elle est)\s(?:\p{L}+\s){0,2}(?:allergique|végétarien|végétarienne|végane?|vegan|intolérante?|diabétique)`,
    String.raw`\bj'ai une (?:allergie|intolérance)\b|\b(?:je préfère|je préférerais|nous préférons|je voudrais plutôt)\b`,
    String.raw`\b(?:au plus|au maximum|au moins|au minimum|pas plus de|au plus tard|pas avant)\s\S`,
    String.raw`\b(?:à partir de maintenant|désormais|dorénavant|à l'avenir)\b`,
    String.raw`^(?:s'il (?:te|vous) plaît,?\s)?(?:ne|n')\s?\p{L}+(?:-\p{L}+)?\s(?:jamais|pas|plus|que)\b`,
    String.raw`^(?:s'il (?:te|vous) plaît,?\s)?(?:évitez?|utilisez? (?:uniquement|toujours|seulement)|assurez-vous|assure-toi|réponds|répondez|toujours|jamais|surtout pas)\b`,
    String.raw`\b(?:tu|vous)\s(?:ne\s)?(?:dois|devez)\b|\bil (?:faut|ne faut) (?:toujours|jamais|pas|absolument)\b|\bsurtout pas\b`,
    String.raw`\b(?:mon|notre) budget\b|\brien\s(?:sans|avant|après)\s\p{L}`,
    String.raw`^(?:seulement|uniquement)\s(?:d|l|pour|en|avec|un)\p{L}*|^(?:on |nous )?(?:utilis(?:e|ez|ons)|prends|prenez)\s[^.,;?]{1,40},\s(?:et\s)?pas\s\p{L}`,
    String.raw`^(?:s'il (?:te|vous) plaît,?\s)?laissez?\s(?!-?moi)[^?!]{2,60}\s(?:tranquilles?|tels? quels?|telles? quelles?|comme (?:ça|il est|elle est)|intacte?s?)(?!\p{L})`,
    String.raw`^(?:s'il (?:te|vous) plaît,?\s)?(?:écris|écrivez|parle|parlez)(?:-moi)?\s(?:\p{L}+\s){0,2}en\s(?:fr|an|al|es|it|ja|ch|po)\p{L}+`,
  ]),
  not: joined([
    String.raw`\bne (?:t'inquiète|vous inquiétez)|\bpas (?:grave|de souci|de problème)\b`,
  ]),
};

const spanish: WishPatterns = {
  wish: joined([
    String.raw`\b(?:no|nunca)\s(?:quiero|queremos|como|comemos|bebo|tomo|puedo (?:comer|beber|tomar)|me gustan?|acepto|necesito)\b`,
    String.raw`\b(?:soy|somos|es|tengo)\s(?:\p{L}+\s){0,2}(?:alérgic[oa]s?|alergia|vegetarian[oa]s?|vegan[oa]s?|celíac[oa]s?|intolerantes?|diabétic[oa]s?|intolerancia)`,
    String.raw`\b(?:prefiero|preferimos|preferiría|(?:mi|nuestro) presupuesto)\b`,
    String.raw`\b(?:como máximo|como mínimo|no más de|a más tardar|por lo menos|al menos)\s\S`,
    String.raw`\b(?:a partir de ahora|de ahora en adelante|en el futuro)\b`,
    String.raw`^(?:por favor,?\s|y\s|pero\s)?(?:nunca|jamás|siempre|evit[ae]|asegúr(?:ate|ese)|solo|sólo|únicamente)\s\p{L}`,
    String.raw`\bpor favor,?\s(?:no|nunca|siempre|solo|sólo)\s`,
    String.raw`\b(?:debes?|tienes que)\s(?:siempre|nunca|solo)\b|\bno debes?\b`,
    String.raw`\bnada\s(?:sin|antes de|después de)\s\p{L}|^no\s\p{L}+s\s[^.?!]{2,60}\bpor favor\b`,
    String.raw`^(?:por favor,?\s)?(?:us[ae]|utili[zc][ae]|usamos)\s[^.,;?]{1,40},\s(?:y\s)?no\s\p{L}`,
    String.raw`^(?:por favor,?\s)?(?:deja|deje|dejad)\s(?!me\b)[^?!]{2,60}\s(?:como está[ns]?|en paz|tal cual|sin tocar|intact[oa]s?)(?!\p{L})`,
    String.raw`^(?:por favor,?\s)?(?:responde|respóndeme|contesta|contéstame|escribe|escríbeme|háblame)\s(?:\p{L}+\s){0,2}en\s\p{L}`,
  ]),
  not: joined([
    String.raw`\bno te preocupes\b|\bno pasa nada\b|\bsiempre (?:me|he|fue|es|ha)\b|\bnunca (?:he|me|ha)\b`,
  ]),
};

const portuguese: WishPatterns = {
  wish: joined([
    String.raw`\b(?:não|nunca)\s(?:quero|queremos|como|comemos|bebo|tomo|posso (?:comer|beber|tomar)|gosto|aceito|preciso)\b`,
    String.raw`(?<!\p{L})(?:sou|somos|é|tenho)\s(?:\p{L}+\s){0,2}(?:alérgic[oa]s?|alergia|vegetarian[oa]s?|vegan[oa]s?|celíac[oa]s?|intolerantes?|diabétic[oa]s?|intolerância)`,
    String.raw`\b(?:prefiro|preferimos|preferiria|(?:meu|nosso) orçamento)\b`,
    String.raw`\b(?:no máximo|no mínimo|não mais (?:de|que)|o mais tardar|pelo menos)\s\S`,
    String.raw`\b(?:a partir de agora|de agora em diante|daqui em diante|no futuro)\b`,
    String.raw`^(?:por favor,?\s|e\s|mas\s)?(?:nunca|jamais|sempre|evite|certifique-se|apenas|somente)\s\p{L}`,
    String.raw`\bpor favor,?\s(?:não|nunca|sempre|só|apenas|somente)\s`,
    String.raw`\bvocê\s(?:deve|não deve|não pode|tem que)\b`,
    String.raw`\bnada\s(?:sem|antes d|depois d)\p{L}*\s\p{L}|^só\s[^.?!]{2,60}\bpor favor\b|^não\s\p{L}+\s[^.?!]{2,60}\bpor favor\b`,
    String.raw`^(?:por favor,?\s)?(?:us[ae]|utiliz[ae]|usamos)\s[^.,;?]{1,40},\s(?:e\s)?não\s\p{L}`,
    String.raw`^(?:por favor,?\s)?(?:deixa|deixe)\s[^?!]{2,60}\s(?:como está|em paz|tal como está|intact[oa]s?)(?!\p{L})`,
    String.raw`^(?:por favor,?\s)?(?:responda|responde|responda-me|responde-me|escreva|escreve)\s(?:\p{L}+\s){0,2}em\s\p{L}`,
  ]),
  not: joined([String.raw`\bnão se preocupe\b|\b(?:sempre|nunca) (?:fui|foi|gostei|quis|me)\b`]),
};

const italian: WishPatterns = {
  wish: joined([
    String.raw`\bnon\s(?:voglio|vogliamo|mangio|mangiamo|bevo|posso (?:mangiare|bere)|mi piac(?:e|ciono)|accetto|sopporto)\b`,
    String.raw`(?<!\p{L})(?:sono|siamo|è|ho)\s(?:\p{L}+\s){0,2}(?:allergic[oaie]|allergia|vegetarian[oaie]|vegan[oaie]|celiac[oaie]|intollerant[ei]|diabetic[oaie]|intolleranza)`,
    String.raw`\b(?:preferisco|preferiamo|preferirei|il (?:mio|nostro) budget)\b`,
    String.raw`\b(?:al massimo|al minimo|non più di|al più tardi|almeno|entro (?:e non oltre)?)\s\S`,
    String.raw`\b(?:d'ora in poi|da ora in poi|in futuro)\b`,
    String.raw`^(?:per favore,?\s|e\s|ma\s)?(?:mai|sempre|evit[ai]|assicura(?:ti|rsi)|soltanto|solo|non \p{L}+(?:re|i|a)(?:\smai)?)\s\p{L}`,
    String.raw`\bper favore,?\s(?:non|mai|sempre|solo)\s`,
    String.raw`\b(?:devi|deve|non devi|non deve)\s(?:sempre|mai|solo|\p{L}+re)\b`,
    String.raw`\bniente\s(?:senza|prima d|dopo)\p{L}*\s\p{L}`,
    String.raw`^(?:per favore,?\s)?(?:us[ai]|utilizz[ai]|usiamo)\s[^.,;?]{1,40},\s(?:e\s)?non\s\p{L}`,
    String.raw`^(?:per favore,?\s)?lasci?a?\s(?:stare\s\p{L}|[^?!]{2,60}\s(?:com'è|così com'è|in pace|intatt[oaie])(?!\p{L}))`,
    String.raw`^(?:per favore,?\s)?(?:rispondi|rispondimi|risponda|scrivi|scrivimi)\s(?:\p{L}+\s){0,2}in\s\p{L}`,
  ]),
  not: joined([
    String.raw`\bnon (?:ti preoccupare|si preoccupi|importa|c'è problema)\b|\bsempre (?:stato|piaciuto)\b`,
  ]),
};

/** Wishes in the Latin script. */
export const latinWishes: Readonly<Record<LatinLanguage, WishPatterns>> = {
  english,
  german,
  french,
  spanish,
  portuguese,
  italian,
};
