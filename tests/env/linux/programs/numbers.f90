! Arithmetic, text, and a file.
program numbers
  implicit none
  integer :: i
  real(8) :: a(100)
  character(len=20) :: text
  do i = 1, 100
    a(i) = sqrt(real(i, 8))
  end do
  print '(a,f12.6)', 'sum ', sum(a)
  write (text, '(i5)') 42
  print *, trim(text), maxval(a), matmul(reshape(a(1:4), [2, 2]), reshape(a(5:8), [2, 2]))
  open (10, file='numbers.txt')
  write (10, *) a(1:3)
  close (10)
  open (10, file='numbers.txt')
  read (10, *) a(4:6)
  close (10, status='delete')
  print *, a(4:6)
  stop 7
end program
