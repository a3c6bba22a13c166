;; One pass over an ASCII text, 64 bytes at a time, and the weighted sum of four columns.
;;
;; Memory, in bytes (text-scanner.ts writes patterns and texts):
;;       0  result: words, unique words, bytes in words, 1 where a byte is one of . ! ?        4 × i32
;;      16  16 bytes of 255, then 16 of 0: a load at 32 - n masks the first n bytes
;;      64  a header for each pattern: address, length, offsets of its two rarest bytes,
;;          these bytes (low, then high), 1 where it was found                                 6 × i32
;;   65536  text, at most 32768 bytes
;;  102400  text in lower case
;;  139264  a bit for each byte of the text: 1 where it is white space
;;  147456  hash table of words: stamp, length, address, tag, first 16 bytes                   32 bytes each
;; 1245184  four columns of float64 and their weighted sum, one after the other
(module
  (memory (export "memory") 24 24)
  (data (i32.const 16) "\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\ff\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00")
  (global $stamp (mut i32) (i32.const 0))

  ;; 16 bytes at $at, those from the $n-th on as 0.
  (func $head (param $at i32) (param $n i32) (result v128)
    (v128.and
      (v128.load (local.get $at))
      (v128.load (i32.sub (i32.const 32)
        (select (local.get $n) (i32.const 16) (i32.lt_u (local.get $n) (i32.const 16)))))))

  ;; Whether $n bytes at $a and $b are equal.
  (func $same (param $a i32) (param $b i32) (param $n i32) (result i32)
    (block $differ
      (loop $chunk
        (if (i32.le_s (local.get $n) (i32.const 0)) (then (return (i32.const 1))))
        (br_if $differ (v128.any_true (v128.xor
          (call $head (local.get $a) (local.get $n))
          (call $head (local.get $b) (local.get $n)))))
        (local.set $a (i32.add (local.get $a) (i32.const 16)))
        (local.set $b (i32.add (local.get $b) (i32.const 16)))
        (local.set $n (i32.sub (local.get $n) (i32.const 16)))
        (br $chunk)))
    (i32.const 0))

  ;; Writes the text in lower case and the bits of white space, and gives the number of words. (One long function: calls are not
  ;; inlined everywhere.)
  (func $split (param $length i32) (result i32)
    (local $at i32) (local $v v128) (local $ends v128) (local $bits i32) (local $before i32) (local $words i32)
    (v128.store offset=65536 (local.get $length) (v128.const i8x16 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32))
    (v128.store offset=65552 (local.get $length) (v128.const i8x16 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32))
    (v128.store offset=65568 (local.get $length) (v128.const i8x16 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32))
    (v128.store offset=65584 (local.get $length) (v128.const i8x16 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32))
    (local.set $before (i32.const 1))
    (loop $block
      (local.set $v (v128.load offset=65536 (local.get $at)))
      (v128.store offset=102400 (local.get $at)
        (v128.or (local.get $v)
          (v128.and (v128.const i8x16 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32 32)
            (i8x16.lt_u (i8x16.sub (local.get $v) (v128.const i8x16 65 65 65 65 65 65 65 65 65 65 65 65 65 65 65 65)) (v128.const i8x16 26 26 26 26 26 26 26 26 26 26 26 26 26 26 26 26)))))
      (local.set $ends (v128.or (local.get $ends)
        (v128.or
          (i8x16.eq (local.get $v) (v128.const i8x16 46 46 46 46 46 46 46 46 46 46 46 46 46 46 46 46))
          (v128.or
            (i8x16.eq (local.get $v) (v128.const i8x16 33 33 33 33 33 33 33 33 33 33 33 33 33 33 33 33))
            (i8x16.eq (local.get $v) (v128.const i8x16 63 63 63 63 63 63 63 63 63 63 63 63 63 63 63 63))))))
      (local.set $bits (i8x16.bitmask (v128.or
        (i8x16.lt_u (i8x16.sub (local.get $v) (v128.const i8x16 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9)) (v128.const i8x16 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5))
        (i8x16.lt_u (i8x16.sub (local.get $v) (v128.const i8x16 28 28 28 28 28 28 28 28 28 28 28 28 28 28 28 28)) (v128.const i8x16 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5 5)))))
      (i32.store16 offset=139264 (i32.shr_u (local.get $at) (i32.const 3)) (local.get $bits))
      (local.set $words (i32.add (local.get $words) (i32.popcnt (i32.and
        (i32.xor (local.get $bits) (i32.const 0xffff))
        (i32.or (i32.shl (local.get $bits) (i32.const 1)) (local.get $before))))))
      (local.set $before (i32.shr_u (local.get $bits) (i32.const 15)))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $block (i32.le_u (local.get $at) (i32.or (local.get $length) (i32.const 63)))))
    (i32.store (i32.const 12) (v128.any_true (local.get $ends)))
    (local.get $words))

  ;; Continues the hash of a word over its bytes from the 17th on.
  (func $hash_rest (param $h i64) (param $at i32) (param $n i32) (result i64)
    (local $v v128)
    (loop $chunk
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (local.set $n (i32.sub (local.get $n) (i32.const 16)))
      (local.set $v (call $head (local.get $at) (local.get $n)))
      (local.set $h (i64.xor
        (i64.mul (i64.xor (i64.rotl (local.get $h) (i64.const 31)) (i64x2.extract_lane 0 (local.get $v))) (i64.const 0x9E3779B97F4A7C15))
        (i64.mul (i64.rotl (i64x2.extract_lane 1 (local.get $v)) (i64.const 29)) (i64.const 0xC2B2AE3D27D4EB4F))))
      (br_if $chunk (i32.gt_s (local.get $n) (i32.const 16))))
    (local.get $h))

  ;; Counts words that differ, and the bytes of all words. Gives 1, without a count, where too many words share a hash.
  (func $count_unique (param $length i32) (param $words i32) (result i32)
    (local $at i32) (local $block i64) (local $edges i64) (local $before i64) (local $position i32) (local $start i32)
    (local $inside i32) (local $mask i32) (local $unique i32) (local $bytes i32) (local $patience i32)
    (local $n i32) (local $v v128) (local $h i64) (local $tag i32) (local $slot i32) (local $entry i32) (local $shift i64)
    (global.set $stamp (i32.add (global.get $stamp) (i32.const 1)))
    (if (i32.eqz (global.get $stamp)) (then
      (memory.fill (i32.const 147456) (i32.const 0) (i32.const 1048576))
      (global.set $stamp (i32.const 1))))
    (local.set $shift (i64.extend_i32_u (i32.add (i32.const 32)
      (i32.clz (i32.or (i32.const 15) (i32.shl (local.get $words) (i32.const 1)))))))
    (local.set $mask (i32.sub (i32.shl (i32.const 1) (i32.sub (i32.const 64) (i32.wrap_i64 (local.get $shift)))) (i32.const 1)))
    (local.set $patience (i32.add (i32.const 64) (i32.shl (local.get $words) (i32.const 3))))
    (local.set $before (i64.const 1))
    (loop $blocks
      (local.set $block (i64.load offset=139264 (i32.shr_u (local.get $at) (i32.const 3))))
      (local.set $edges (i64.xor (local.get $block) (i64.or (i64.shl (local.get $block) (i64.const 1)) (local.get $before))))
      (local.set $before (i64.shr_u (local.get $block) (i64.const 63)))
      (block $none
        (loop $edge
          (br_if $none (i64.eqz (local.get $edges)))
          (local.set $position (i32.add (local.get $at) (i32.wrap_i64 (i64.ctz (local.get $edges)))))
          (local.set $edges (i64.and (local.get $edges) (i64.sub (local.get $edges) (i64.const 1))))
          (local.set $inside (i32.xor (local.get $inside) (i32.const 1)))
          (if (local.get $inside) (then
            (local.set $start (i32.add (i32.const 65536) (local.get $position)))
            (br $edge)))
          (local.set $n (i32.sub (i32.add (i32.const 65536) (local.get $position)) (local.get $start)))
          (local.set $bytes (i32.add (local.get $bytes) (local.get $n)))
          (local.set $v (v128.and
            (v128.load (local.get $start))
            (v128.load (i32.sub (i32.const 32)
              (select (local.get $n) (i32.const 16) (i32.lt_u (local.get $n) (i32.const 16)))))))
          (local.set $h (i64.xor
            (i64.mul (i64.xor (i64.extend_i32_u (local.get $n)) (i64x2.extract_lane 0 (local.get $v))) (i64.const 0x9E3779B97F4A7C15))
            (i64.mul (i64.rotl (i64x2.extract_lane 1 (local.get $v)) (i64.const 29)) (i64.const 0xC2B2AE3D27D4EB4F))))
          (if (i32.gt_u (local.get $n) (i32.const 16)) (then
            (local.set $h (call $hash_rest (local.get $h) (local.get $start) (local.get $n)))))
          (local.set $h (i64.mul
            (i64.xor (local.get $h) (i64.shr_u (local.get $h) (i64.const 32)))
            (i64.const 0x165667B19E3779F9)))
          (local.set $tag (i32.wrap_i64 (local.get $h)))
          (local.set $slot (i32.wrap_i64 (i64.shr_u (local.get $h) (local.get $shift))))
          (loop $probe
            (local.set $entry (i32.add (i32.const 147456) (i32.shl (local.get $slot) (i32.const 5))))
            (if (i32.ne (i32.load (local.get $entry)) (global.get $stamp)) (then
              (i32.store (local.get $entry) (global.get $stamp))
              (i32.store offset=4 (local.get $entry) (local.get $n))
              (i32.store offset=8 (local.get $entry) (local.get $start))
              (i32.store offset=12 (local.get $entry) (local.get $tag))
              (v128.store offset=16 (local.get $entry) (local.get $v))
              (local.set $unique (i32.add (local.get $unique) (i32.const 1)))
              (br $edge)))
            (if (i32.and
                  (i32.eq (i32.load offset=12 (local.get $entry)) (local.get $tag))
                  (i32.eq (i32.load offset=4 (local.get $entry)) (local.get $n)))
              (then
                (if (i32.eqz (v128.any_true (v128.xor (v128.load offset=16 (local.get $entry)) (local.get $v)))) (then
                  (br_if $edge (i32.le_u (local.get $n) (i32.const 16)))
                  (br_if $edge (call $same
                    (i32.add (i32.load offset=8 (local.get $entry)) (i32.const 16))
                    (i32.add (local.get $start) (i32.const 16))
                    (i32.sub (local.get $n) (i32.const 16))))))))
            (local.set $patience (i32.sub (local.get $patience) (i32.const 1)))
            (if (i32.lt_s (local.get $patience) (i32.const 0)) (then (return (i32.const 1))))
            (local.set $slot (i32.and (i32.add (local.get $slot) (i32.const 1)) (local.get $mask)))
            (br $probe))))
      (local.set $at (i32.add (local.get $at) (i32.const 64)))
      (br_if $blocks (i32.le_u (local.get $at) (local.get $length))))
    (i32.store (i32.const 4) (local.get $unique))
    (i32.store (i32.const 8) (local.get $bytes))
    (i32.const 0))

  ;; Whether the pattern with this header occurs in the text in lower case.
  (func $find (param $header i32) (param $length i32) (result i32)
    (local $pattern i32) (local $n i32) (local $first i32) (local $second i32) (local $a v128) (local $b v128)
    (local $at i32) (local $candidates i32) (local $position i32)
    (local.set $pattern (i32.load (local.get $header)))
    (local.set $n (i32.load offset=4 (local.get $header)))
    (local.set $first (i32.load offset=8 (local.get $header)))
    (local.set $second (i32.load offset=12 (local.get $header)))
    (local.set $a (v128.load8_splat offset=16 (local.get $header)))
    (local.set $b (v128.load8_splat offset=17 (local.get $header)))
    (local.set $length (i32.sub (local.get $length) (local.get $n)))
    (block $absent
      (loop $block
        (br_if $absent (i32.gt_s (local.get $at) (local.get $length)))
        (local.set $candidates (i8x16.bitmask (v128.and
          (i8x16.eq (v128.load offset=102400 (i32.add (local.get $at) (local.get $first))) (local.get $a))
          (i8x16.eq (v128.load offset=102400 (i32.add (local.get $at) (local.get $second))) (local.get $b)))))
        (block $none
          (loop $candidate
            (br_if $none (i32.eqz (local.get $candidates)))
            (local.set $position (i32.add (local.get $at) (i32.ctz (local.get $candidates))))
            (local.set $candidates (i32.and (local.get $candidates) (i32.sub (local.get $candidates) (i32.const 1))))
            (br_if $absent (i32.gt_s (local.get $position) (local.get $length)))
            (if (call $same (i32.add (i32.const 102400) (local.get $position)) (local.get $pattern) (local.get $n))
              (then (return (i32.const 1))))
            (br $candidate)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br $block)))
    (i32.const 0))

  ;; Scans the text of $length bytes for words and patterns. Gives 1, without a result, where too many words share a hash.
  (func (export "scan") (param $length i32) (param $patterns i32) (result i32)
    (local $words i32) (local $header i32)
    (local.set $words (call $split (local.get $length)))
    (i32.store (i32.const 0) (local.get $words))
    (if (call $count_unique (local.get $length) (local.get $words)) (then (return (i32.const 1))))
    (local.set $header (i32.const 64))
    (block $done
      (loop $pattern
        (br_if $done (i32.eqz (local.get $patterns)))
        (i32.store offset=20 (local.get $header) (call $find (local.get $header) (local.get $length)))
        (local.set $header (i32.add (local.get $header) (i32.const 24)))
        (local.set $patterns (i32.sub (local.get $patterns) (i32.const 1)))
        (br $pattern)))
    (i32.const 0))

  ;; out[i] = w0·a[i] + w1·b[i] + w2·c[i] + w3·d[i] over float64 columns of $n (even) that lie one after the other, $a first and
  ;; the result last.
  (func (export "weigh") (param $a i32) (param $n i32) (param $w0 f64) (param $w1 f64) (param $w2 f64) (param $w3 f64)
    (local $stride i32) (local $end i32) (local $b i32)
    (local.set $stride (i32.shl (local.get $n) (i32.const 3)))
    (local.set $end (i32.add (local.get $a) (local.get $stride)))
    (block $done
      (loop $pair
        (br_if $done (i32.ge_u (local.get $a) (local.get $end)))
        (local.set $b (i32.add (local.get $a) (i32.shl (local.get $stride) (i32.const 1))))
        (v128.store (i32.add (local.get $b) (i32.shl (local.get $stride) (i32.const 1)))
          (f64x2.add
            (f64x2.add
              (f64x2.add
                (f64x2.mul (f64x2.splat (local.get $w0)) (v128.load (local.get $a)))
                (f64x2.mul (f64x2.splat (local.get $w1)) (v128.load (i32.add (local.get $a) (local.get $stride)))))
              (f64x2.mul (f64x2.splat (local.get $w2)) (v128.load (local.get $b))))
            (f64x2.mul (f64x2.splat (local.get $w3)) (v128.load (i32.add (local.get $b) (local.get $stride))))))
        (local.set $a (i32.add (local.get $a) (i32.const 16)))
        (br $pair))))
)
