/** Format of every id, generated or chosen by a caller (specification 2 and 4). Browsers of the demo load it too. */
export const ID_PATTERN = '^[A-Za-z0-9_@~.-]{1,50}$'

export const ID_RULE = 'must be 1 to 50 letters, digits, or any of . _ - @ ~'
