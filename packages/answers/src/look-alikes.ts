/**
 * Letters of other scripts and of phonetics that look like an ASCII letter or digit, by what they look like. Accented letters are not
 * among them.
 *
 * @see https://www.unicode.org/Public/security/latest/confusables.txt, with small capitals added
 */
const alike: Readonly<Record<string, string>> = {
  ...{ 2: 'ꝚƧϨꙄᒿƻ', 3: 'ꞫȜƷꝪⳌЗӠҘ', 4: 'Ꮞ', 5: 'Ƽ', 6: 'ⳒбᏮ', 8: 'ȣȢ', 9: 'ꝮⳊ', A: 'ΑАᎪᗅꓮǍȦ' },
  ...{ B: 'ꞴΒВᏴᗷꓐ', C: 'ϹⲤСᏟꓚ𐐕Ҫ', D: 'ᎠᗞᗪꓓƉ', E: 'ΕЕᎬꓰɆ', F: 'ꞘϜᖴꓝƑ', G: 'ԌᏀᏳꓖǦǤ', H: 'ΗⲎНᎻᕼꓧᵸⱧҢӉӇ' },
  ...{ I: 'ǏƖΙⲒІӀƗᏆ', J: 'ꞲͿЈᎫᒍꓙɈ', K: 'ΚⲔКᏦꓗⱩҚꝀҞ', L: 'ⳐᏞᒪꓡ𐐛', M: 'ΜϺⲘМᎷᗰꓟӍ', N: 'ΝⲚꓠƝ' },
  ...{ O: 'ΟⲞОՕꓳ𐐄ǑǾƟꝊθϑΘϴӨѲᎾᏫ', P: 'ΡⲢРᏢᑭꓑ', R: 'ƦᎡᏒᖇꓣ', S: 'ЅՏᏕᏚꓢ𐐠', T: 'ΤⲦТᎢꓔȾȚƮҬ', U: 'ՍᑌꓴǓɄᏌ' },
  ...{ V: 'ѴᏙᐯꓦ', W: 'ԜᎳᏔꓪ', X: 'ꞳΧⲬХꓫҲ', Y: 'ΥϒⲨУҮᎩᎽꓬɎҰ', Z: 'ΖᏃꓜƵȤ', a: 'ɑαаǎȧẚᴀ' },
  ...{ b: 'ƄЬᏏᑲᖯɓᑳƃƂБƀҍҌѣѢʙ', c: 'ᴄϲⲥсꮯ𐐽ȼҫ', d: 'ԁᏧᑯꓒɗɖƌᴅ', e: 'ꬲеҽɇҿᴇ', f: 'ꬵꞙẝքƒᵮꜰ' },
  ...{ g: 'ɡᶃƍցᶢɠǧǵǥɢ', h: 'һհᏂɦꚕᏲћʜ', i: 'ɪɩιιͺіꙇӏꭵᎥǐɨᵻᵼ', j: 'ϳјɉᴊ', k: 'ƙᴋ', l: 'ǀꓲɭƚɫʟ', m: 'ᴍ' },
  ...{ n: 'ոռɳƞηᵰɴ', o: 'ᴏᴑꬽοσⲟоօ𐐬ǒꬾɵꝋөѳꮎꮻꭴ', p: 'ρϱⲣрƥᵽᴘ', q: 'ԛգզʠ', r: 'ꭇꭈᴦⲅгꮁɽɼɍғᵲʀ' },
  ...{ s: 'ꜱƽѕꮪ𐑈ʂᵴ', t: 'ƭᵵᴛ', u: 'ꞟᴜꭎꭒʋυսǔᵾꮜ', v: 'ᴠνѵꮩ', w: 'ɯᴡѡԝաꮃѽꝡ', x: 'хᕁᕽχ', y: 'ɣᶌʏỿꭚγуүƴɏұ' },
  ...{ z: 'ᴢꮓʐƶȥᵶ' },
};

/** Letters that are put for Latin ones though they look somewhat different. In words of another script they are left as they are. */
const near: Readonly<Record<string, string>> = {
  ...{ A: 'ΛД', E: 'ЄЭΣ', N: 'И', R: 'Я', U: 'Ц', W: 'ШЩ' },
  ...{ b: 'вβьъ', d: 'д', e: 'єэεз', h: 'нђ', k: 'кκ', m: 'м', n: 'пил', r: 'я', t: 'тτ' },
  ...{ u: 'цй', w: 'шωщ', x: 'ж', y: 'ч' },
};

const byLetter = (table: Readonly<Record<string, string>>) =>
  Object.entries(table).flatMap(([plain, others]) => Array.from(others, (other) => [other, plain] as const));

/** What a letter looks like, if it looks like an ASCII letter or digit. */
export const lookAlikes: ReadonlyMap<string, string> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ byLetter(alike),
);

/** The same for letters among Latin ones. */
export const lookAlikesAmongLatin: ReadonlyMap<string, string> = /* @__PURE__ */ new Map(
  /* @__PURE__ */ [...byLetter(near), ...lookAlikes],
);
